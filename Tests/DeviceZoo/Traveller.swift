import Control
import DeviceKit
import Glibc

/// A client that travels in time while another changes `ZooState` a hundred times a second, and a
/// third watches. It says on its last line what it saw, as JSON.
///
/// `travel STEPS COMMANDS`
///
/// Every `Zoo.fill` adds one to the count of the region, so that a count says its revision: so many
/// steps back the count must be so much less.
@LoopActor
final class Traveller {
    private let traveller: Kernel
    private let worker: Kernel
    private let steps: Int64
    private let commands: Int64
    private var made: Int64 = 0
    private var wrong: [Value] = []
    /// Changes that the watching client saw, and the last count of them.
    private var watched: (changes: Int64, last: Int64) = (0, 0)
    private var seen: Int64 = 0

    nonisolated static func run(_ words: [String]) -> Never {
        let numbers = words.compactMap { Int64($0) }
        Program.run {
            do {
                guard numbers.count == 2 else { return 64 }
                let traveller = try await Traveller(steps: numbers[0], commands: numbers[1])
                try await traveller.run()
                return 0
            } catch {
                Behaviour.complain("\(error)")
                return 69
            }
        }
    }

    private init(steps: Int64, commands: Int64) async throws {
        traveller = try await Self.client("traveller")
        worker = try await Self.client("worker")
        self.steps = steps
        self.commands = commands
    }

    private static func client(_ name: String) async throws -> Kernel {
        try await Kernel.connect(instance: Program.instance, client: name)
    }

    private func run() async throws {
        let watcher = try await Self.client("watcher")
        for _ in 0...steps { try await fill() }
        try await traveller.follow("ZooState") { [unowned self] _ in seen += 1 }
        watched.last = made
        try await watcher.follow("ZooState") { [unowned self, unowned watcher] update in
            guard case .patch = update else { return }
            watched.changes += 1
            let count = watcher.value(of: "ZooState")?.value["count"]?.int
            expect(count, watched.last + 1, "the watcher")
            watched.last = count ?? -1
        }
        let work = start { await self.work() }
        try await travel()
        await work.value
        try await arrive()
        print(
            Value.map([
                "wrong": .array(wrong), "commands": .int(made), "count": .int(count),
                "watched": .int(watched.changes), "last": .int(watched.last),
            ]).json())
        fflush(nil)
        watcher.close()
    }

    private var count: Int64 { traveller.value(of: "ZooState")?.value["count"]?.int ?? -1 }

    private func fill() async throws {
        let result = try await worker.call("Zoo.fill", .int(10))
        made += 1
        expect(result.int, made, "a fill")
    }

    private func start(_ body: @escaping @LoopActor @Sendable () async -> Void) -> Task<Void, Never>
    {
        Task(executorPreference: LoopActor.executor, operation: body)
    }

    /// A hundred a second; not for ever, for what is kept of the past is bounded.
    private func work() async {
        do {
            for _ in 0..<commands {
                try await fill()
                try await Program.pause(milliseconds: 10)
            }
        } catch {
            wrong.append(.text("\(error)"))
        }
    }

    /// There and back, a step at a time.
    private func travel() async throws {
        try await traveller.preview(steps: 0)
        let start = count
        for step in 1...steps {
            try await traveller.preview(steps: -1)
            expect(count, start - step, "back")
            if step % 50 == 0 { try await refused() }
            try await Program.pause(milliseconds: 1)
        }
        for step in 1...steps {
            try await traveller.preview(steps: 1)
            expect(count, start - steps + step, "forward")
        }
        try await traveller.preview(steps: -Int(steps) / 2)
        expect(count, start - steps / 2, "far")
        try await traveller.leavePreview()
        expect(traveller.preview == nil ? 1 : 0, 1, "the preview")
    }

    private func refused() async throws {
        do {
            _ = try await traveller.call("Zoo.fill", .int(1))
            expect(0, 1, "a call in the past")
        } catch let error as KernelError {
            expect(error.code == .previewing && error.outcome == .none ? 1 : 0, 1, "\(error)")
        }
    }

    /// The traveller is in the present, and is told what happens there.
    private func arrive() async throws {
        let before = seen
        try await traveller.dispatch("Zoo.fill", .int(10))
        made += 1
        // The answer to a call comes after the changes that it made.
        try await fill()
        _ = try await traveller.call("Zoo.fill", .int(10))
        made += 1
        expect(count, made, "the traveller")
        expect(seen - before, 3, "what the traveller was told")
    }

    private func expect(_ found: Int64?, _ wanted: Int64, _ what: String) {
        guard found != wanted, wrong.count < 20 else { return }
        wrong.append(.text("\(what): \(found ?? -1) instead of \(wanted)"))
    }
}
