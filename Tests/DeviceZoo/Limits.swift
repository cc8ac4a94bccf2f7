import Control
import DeviceKit
import Glibc

/// Animals that use up what their manifests limit.
extension Zoo {
    /// Takes so many MiB of memory and writes to all of it; what it has taken.
    static let hoard = Symbol<Int, Int>("Zoo.hoard", .replayable)
    /// Takes so many MiB of memory in one piece; what it has taken.
    static let swell = Symbol<Int, Int>("Zoo.swell", .replayable)
    /// Is refused memory, goes on without it, and gives its payload back.
    static let forgo = Symbol<String, String>("Zoo.forgo", .replayable)
    /// Uses the processor and nothing else.
    static let burn = Symbol<Void, Void>(
        "Zoo.burn", .replayable.limits(attempt: 30_000, deadline: 120_000))
    /// Opens files until one is refused, and closes them; how many there were, and the refusal.
    static let collect = Symbol<Void, String>("Zoo.collect", .replayable)
}

extension Handlers {
    static let limits: [String: @LoopActor (Bindings) -> Void] = [
        Zoo.hoard.name: { $0.bind(Zoo.hoard) { _, size in hoard(size) } },
        Zoo.swell.name: {
            $0.bind(Zoo.swell) { _, size in [UInt8](repeating: 7, count: size << 20).count >> 20 }
        },
        Zoo.forgo.name: { $0.bind(Zoo.forgo) { _, text in forgo(text) } },
        Zoo.burn.name: { $0.bind(Zoo.burn) { _, _ in burn() } },
        Zoo.collect.name: { $0.bind(Zoo.collect) { _, _ in collect() } },
    ]

    nonisolated private static func hoard(_ mebibytes: Int) -> Int {
        var blocks: [[UInt8]] = []
        for _ in 0..<mebibytes { blocks.append([UInt8](repeating: 7, count: 1 << 20)) }
        return blocks.reduce(0) { $0 + $1.count } >> 20
    }

    nonisolated private static func forgo(_ text: String) -> String {
        let memory = malloc(1 << 40)
        free(memory)
        return memory == nil ? text : ""
    }

    nonisolated private static func burn() {
        var count: UInt64 = 0
        while true { count &+= 1 }
    }

    nonisolated private static func collect() -> String {
        var files: [Int32] = []
        var refusal: Int32 = 0
        while refusal == 0, files.count < 100_000 {
            let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if file >= 0 { files.append(file) } else { refusal = errno }
        }
        for file in files { close(file) }
        return "\(files.count) \(refusal == EMFILE ? "EMFILE" : String(refusal))"
    }
}
