import DeviceKit
import Glibc

/// A client whose calls all wait for one device at a time, in order.
///
/// `burst FILE SYMBOL PAYLOAD…`
///
/// While `Zoo.gate` holds the device, it sends the calls; once they are in its cable it opens the
/// gate, or says `sent` and leaves that to whoever has made `FILE.hold`. Prints the answers as a
/// JSON array of texts; one that failed is its code behind a `!`.
enum Burst {
    static func run(_ words: [String]) -> Never {
        let path = words.first ?? ""
        let calls = stride(from: 1, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }
        Program.run {
            do {
                let kernel = try await Kernel.connect(instance: Program.instance, client: "burst")
                print(Value.array(try await send(kernel, path, calls).map { .text($0) }).json())
                fflush(nil)
                return 0
            } catch {
                Behaviour.complain("\(error)")
                return 69
            }
        }
    }

    @LoopActor
    private static func send(
        _ kernel: Kernel, _ path: String, _ calls: [(String, String)]
    ) async throws -> [String] {
        let gate = start { try await kernel.call(Zoo.gate, path) }
        while access(path, F_OK) != 0 { try await Program.pause(milliseconds: 2) }
        let answers = calls.map { symbol, text in
            start { try await kernel.call(symbol, .text(text)) }
        }
        // The kernel takes the calls of a client in order: when it answers a later one, those
        // before are in the device's cable.
        _ = try await kernel.call(Zoo.echo(of: "steady"), "well")
        if access(path + ".hold", F_OK) == 0 {
            print("sent")
            fflush(nil)
        } else {
            close(open(path + ".go", O_WRONLY | O_CREAT, 0o600))
        }
        _ = try await gate.value
        var said: [String] = []
        for answer in answers {
            switch await answer.result {
            case .success(let value): said.append(value.text ?? value.json())
            case .failure(let error):
                said.append("!" + ((error as? KernelError)?.code.rawValue ?? "\(error)"))
            }
        }
        return said
    }

    @LoopActor
    private static func start<T: Sendable>(
        _ body: @escaping @LoopActor @Sendable () async throws -> T
    ) -> Task<T, any Error> {
        Task(executorPreference: LoopActor.executor, operation: body)
    }
}
