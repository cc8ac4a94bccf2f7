import DeviceKit
import Glibc
import Synchronization

/// Clients that follow the two sides of the ledger, in one process: `crowd COUNT` many at once,
/// `stumble PAUSE` one that loses its connection again and again. Each prints `ready`, goes on
/// until SIGTERM, and then says in one line of JSON what it has seen.
@LoopActor
enum Crowd {
    nonisolated static func run(_ words: [String]) -> Never {
        signal(SIGTERM) { _ in Visitor.isToldToEnd.store(true, ordering: .relaxed) }
        let number = words.count > 1 ? Int(words[1]) ?? 1 : 1
        let isCrowd = words.first == "crowd"
        Program.run { await run(isCrowd, number) }
    }

    private static func run(_ isCrowd: Bool, _ number: Int) async -> Int32 {
        do {
            if isCrowd { try await crowd(number) } else { try await stumble(number) }
            return 0
        } catch {
            say("{\"error\": \(Value.text("\(error)").json())}")
            return 70
        }
    }

    nonisolated static let sides = [ZooLeft.region, ZooRight.region]

    /// What one client has seen.
    @LoopActor private final class Witness {
        var updates = 0
        var wholes = 0
        /// States in which one side was not the other's opposite.
        var broken = 0

        func follow(_ kernel: Kernel) async throws {
            try await kernel.follow(Crowd.sides) { [self] _, update in
                updates += 1
                if case .snapshot = update { wholes += 1 }
                look(kernel)
            }
        }

        func look(_ kernel: Kernel) {
            let values = Crowd.sides.map { kernel.value(of: $0)?.value["n"]?.int }
            guard let left = values[0], let right = values[1] else { return }
            if left != -right { broken += 1 }
        }
    }

    private static func crowd(_ count: Int) async throws {
        var members: [(Kernel, Witness)] = []
        for _ in 0..<count {
            let kernel = try await Kernel.connect(
                instance: Program.instance, client: "crowd", patience: 30_000)
            let witness = Witness()
            try await witness.follow(kernel)
            members.append((kernel, witness))
        }
        say("ready")
        while !isOver { try await Program.pause(milliseconds: 5) }
        var differing = 0
        var revisions: Set<String> = []
        for (kernel, _) in members {
            differing += try await differences(kernel)
            revisions.insert(kernel.value(of: ZooLeft.region).map { "\($0.revision)" } ?? "none")
        }
        let witnesses = members.map(\.1)
        let updates = witnesses.map(\.updates)
        say(
            "{\"differing\": \(differing), \"broken\": \(witnesses.reduce(0) { $0 + $1.broken }), "
                + "\"resynced\": \(witnesses.reduce(0) { $0 + $1.wholes } - 2 * count), "
                + "\"least\": \(updates.min() ?? 0), \"most\": \(updates.max() ?? 0), "
                + "\"revisions\": \(revisions.count)}")
    }

    /// - Parameter pause: the longest time between two losses in milliseconds.
    private static func stumble(_ pause: Int) async throws {
        let witness = Witness()
        var kernel = try await Kernel.connect(instance: Program.instance, client: "stumbler")
        try await witness.follow(kernel)
        say("ready")
        var falls = 0
        var epochs: Set<UInt64> = [kernel.epoch]
        var differing = 0
        while !isOver {
            try await Program.pause(milliseconds: UInt64.random(in: 0...UInt64(pause)))
            kernel.close()
            falls += 1
            if falls.isMultiple(of: 10) { say("fell \(falls)") }
            kernel = try await back(kernel)
            epochs.insert(kernel.epoch)
            do {
                differing += try await differences(kernel)
            } catch {
                // The kernel fell, too.
                guard KernelError(error).code == .kernelLost else { throw error }
            }
        }
        kernel = try await back(kernel)
        differing += try await differences(kernel)
        let wholes = witness.wholes
        say(
            "{\"falls\": \(falls), \"differing\": \(differing), \"broken\": \(witness.broken), "
                + "\"wholes\": \(wholes), \"updates\": \(witness.updates), "
                + "\"epochs\": \(epochs.count)}")
    }

    /// The sides that are not what the kernel has.
    private static func differences(_ kernel: Kernel) async throws -> Int {
        var count = 0
        for side in sides {
            let isRight = try await kernel.verify(side)
            if !isRight { count += 1 }
        }
        return count
    }

    /// A new connection that goes on from the old one, whenever the kernel is there.
    private static func back(_ kernel: Kernel) async throws -> Kernel {
        for _ in 0..<3_000 {
            do {
                return try await Kernel.connect(
                    instance: Program.instance, client: "stumbler", resuming: kernel)
            } catch {
                guard error.retry || error.code == .kernelLost else { throw error }
                try await Program.pause(milliseconds: 10)
            }
        }
        throw KernelError(.unavailable, "the kernel did not come back")
    }

    private static var isOver: Bool { Visitor.isToldToEnd.load(ordering: .relaxed) }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
