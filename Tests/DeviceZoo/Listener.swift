import Control
import DeviceKit
import Glibc

/// `listen COUNT break|cancel`: a client that reads so many events of the zoo's channel, ends the
/// iteration in this way, says so, and keeps its connection.
enum Listener {
    static func run(_ words: [String]) -> Never {
        let count = words.first.flatMap { Int($0) } ?? 0
        let breaks = words.last == "break"
        Program.run { await listen(count, breaks) }
    }

    @LoopActor
    private static func listen(_ count: Int, _ breaks: Bool) async -> Int32 {
        do {
            let kernel = try await Kernel.connect(instance: Program.instance, client: "listener")
            let seen = Seen()
            let task = Task { @LoopActor in
                for try await event in kernel.events(of: Zoo.said, after: 0) {
                    seen.numbers.append(event.event)
                    if breaks, seen.numbers.count == count { break }
                }
            }
            if !breaks {
                while seen.numbers.count < count { try await Program.pause(milliseconds: 5) }
                task.cancel()
            }
            switch await task.result {
            case .success: print("seen \(seen.numbers) and broke")
            case .failure(let error): print("seen \(seen.numbers) and \(error)")
            }
            fflush(nil)
            try await Program.pause(milliseconds: 600_000)
            kernel.close()
            return 0
        } catch {
            print("\(error)")
            return 1
        }
    }

    @LoopActor
    private final class Seen {
        var numbers: [Int] = []
    }
}
