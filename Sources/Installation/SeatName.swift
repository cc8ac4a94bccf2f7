/// The names of the processes of a device that serve beside each other: `compute/1`, `compute/2`.
/// A device with one process keeps its plain name; no device has a slash in its own.
package enum SeatName {
    private static let mark: Character = "/"
    /// What stands for it in the name of a file; no device has it in its own name either.
    private static let fileMark: Character = "."

    /// The seats of a device, in order.
    package static func all(of device: String, _ instances: Int) -> [String] {
        instances == 1 ? [device] : (1...max(1, instances)).map { "\(device)\(mark)\($0)" }
    }

    /// Whose seat it is.
    package static func device(of name: String) -> String {
        name.firstIndex(of: mark).map { String(name[..<$0]) } ?? name
    }

    /// Which seat it is, from 1; 0 for the only one.
    package static func number(of name: String) -> Int {
        name.lastIndex(of: mark).flatMap { Int(name[name.index(after: $0)...]) } ?? 0
    }

    /// Whether a word means a seat: its own name, or that of its device.
    package static func means(_ word: String, _ name: String) -> Bool {
        word == name || word == device(of: name)
    }

    /// The name in that of a file.
    package static func file(of name: String) -> String {
        String(name.map { $0 == mark ? fileMark : $0 })
    }

    package static func name(ofFile file: String) -> String {
        String(file.map { $0 == fileMark ? mark : $0 })
    }
}
