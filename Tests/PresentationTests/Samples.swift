import Contract
import Foundation
import Presentation

/// An id that says its number.
func id(_ number: Int) -> UUID {
    let digits = String(number)
    let padded = String(repeating: "0", count: 12 - digits.count) + digits
    return UUID(uuidString: "00000000-0000-4000-8000-\(padded)")!
}

func summary(_ number: Int, _ name: String? = nil, slides: Int = 3) -> SlideshowSummary {
    SlideshowSummary(
        id: id(number), name: name ?? "Show \(number)", slideCount: slides, config: Config(),
        createdAt: Date(timeIntervalSince1970: 1_796_020_800 + Double(number) * 60))
}

func slideshow(
    _ number: Int, _ name: String? = nil, slides: Int = 3, config: Config = Config()
) -> Slideshow {
    Slideshow(
        id: id(number), name: name ?? "Show \(number)",
        slides: (0..<slides).map {
            Slide(
                id: id(1_000 * number + $0), photo: "/photos/\(number)/image\($0 + 1).jpg",
                order: $0, duration: .ten, title: $0 == 1 ? "The second" : nil)
        }, config: config, createdAt: Date(timeIntervalSince1970: 1_796_020_800))
}

let threeDevices = [
    DeviceStatus(name: "compute", state: .ready, pid: 71, incarnation: 11, restarts: 10),
    DeviceStatus(name: "circuit", state: .ready, pid: 72, incarnation: 10, restarts: 9),
    DeviceStatus(
        name: "infrastructure", state: .failed, incarnation: 5, restarts: 4,
        lastExit: "signal 11"),
]

/// A model that is connected and has read a library.
func connected(
    _ library: [SlideshowSummary], columns: Int = 80, rows: Int = 12,
    settings: Model.Settings = Model.Settings(home: "/photos/me")
) -> Model {
    var model = Model(size: Size(columns: columns, rows: rows), settings: settings)
    model.apply(.connection(.connected))
    model.apply(.library(library, isLoading: true))
    model.apply(.library(library, isLoading: false))
    return model
}

extension Model {
    /// Presses keys one after the other and gathers what they ask for.
    mutating func press(_ keys: Key...) -> [Intent] { keys.flatMap { handle($0) } }

    mutating func type(_ text: String) {
        for character in text { _ = handle(.character(character)) }
    }
}

/// The same numbers in each run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
