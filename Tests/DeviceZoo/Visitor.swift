import Control
import DeviceKit
import Glibc
import Synchronization

/// A client: calls symbols over and over, checks every answer, and says on its last line how it
/// went, as JSON.
///
/// `visit [--window N] [--pause MS] [--count N] [--poison TEXT]… SYMBOL…`
///
/// So many calls of each symbol are open at a time, with a pause after each; it ends after the
/// count of calls, or by SIGTERM. Each poison is called once, in the middle, and counts apart. A
/// symbol that is not the zoo's own stands for its commands: `Circuit.Slideshow` makes slideshows
/// of `$VISIT_PHOTOS` and deletes them.
enum Visitor {
    struct Plan: Sendable {
        var window = 1
        var pause: UInt64 = 0
        var count = Int.max
        var poisons: [String] = []
        var symbols: [String] = []
    }

    static func run(_ words: [String]) -> Never {
        var plan = Plan()
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--window": plan.window = rest.popFirst().flatMap { Int($0) } ?? 1
            case "--pause": plan.pause = rest.popFirst().flatMap { UInt64($0) } ?? 0
            case "--count": plan.count = rest.popFirst().flatMap { Int($0) } ?? 1
            case "--poison": plan.poisons += rest.popFirst().map { [$0] } ?? []
            default: plan.symbols.append(word)
            }
        }
        signal(SIGTERM) { _ in Visitor.isToldToEnd.store(true, ordering: .relaxed) }
        let todo = plan
        Program.run { await visit(todo) }
    }

    /// The only thing that the signal's handler touches.
    static let isToldToEnd = Atomic<Bool>(false)

    @LoopActor
    private static func visit(_ plan: Plan) async -> Int32 {
        do {
            let kernel = try await Kernel.connect(instance: Program.instance, client: "visitor")
            let tally = Visits(kernel, plan)
            print("visiting")
            fflush(nil)
            await tally.work()
            print(tally.summary.json())
            fflush(nil)
            return 0
        } catch {
            Behaviour.complain("\(error)")
            return 69
        }
    }
}

/// The visits of one client, and how they went.
@LoopActor
final class Visits {
    private let kernel: Kernel
    private let plan: Visitor.Plan
    private var begun = 0
    private var right = 0
    private var wrong: [Value] = []
    private var failures: [Value] = []
    private var poisoned: [Value] = []
    private var slowest: UInt64 = 0

    init(_ kernel: Kernel, _ plan: Visitor.Plan) {
        self.kernel = kernel
        self.plan = plan
    }

    var summary: Value {
        [
            "right": .int(Int64(right)), "wrong": .array(wrong), "failures": .array(failures),
            "poisoned": .array(poisoned), "slowest": .int(Int64(slowest / 1_000_000)),
        ]
    }

    func work() async {
        var tasks: [Task<Void, Never>] = []
        for symbol in plan.symbols {
            for _ in 0..<plan.window { tasks.append(start { await self.repeatedly(symbol) }) }
        }
        for task in tasks { await task.value }
    }

    private func start(_ body: @escaping @LoopActor @Sendable () async -> Void) -> Task<Void, Never>
    {
        Task(executorPreference: LoopActor.executor, operation: body)
    }

    private func repeatedly(_ symbol: String) async {
        var poisons: [Task<Void, Never>] = []
        while begun < plan.count, !Visitor.isToldToEnd.load(ordering: .relaxed) {
            begun += 1
            let number = begun
            for (place, text) in plan.poisons.enumerated()
            where number == plan.count / (plan.poisons.count + 1) * (place + 1) {
                poisons.append(start { await self.poison(symbol, text) })
            }
            let start = EventLoop.shared.now
            do {
                try await symbol.hasPrefix("Zoo.") ? echo(symbol, number) : slideshow(number)
            } catch {
                note("\(symbol) \(number): \(error)", in: &failures)
            }
            slowest = max(slowest, EventLoop.shared.now - start)
            if plan.pause > 0 { try? await Program.pause(milliseconds: plan.pause) }
        }
        for task in poisons { await task.value }
    }

    private func echo(_ symbol: String, _ number: Int) async throws {
        let text = "\(symbol) \(getpid()) \(number)"
        let answer = try await kernel.call(symbol, .text(text))
        if answer.text == text { right += 1 } else { note(answer.json(), in: &wrong) }
    }

    private func poison(_ symbol: String, _ text: String) async {
        do {
            note(try await kernel.call(symbol, .text(text)).json(), in: &wrong)
        } catch {
            let code = (error as? KernelError)?.code.rawValue ?? "\(error)"
            note("\(text): \(code)", in: &poisoned)
        }
    }

    private func slideshow(_ number: Int) async throws {
        let digits = String(Int(getpid()) * 1_000_000 + number % 1_000_000, radix: 16)
        let id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count)
        let photos = getenv("VISIT_PHOTOS").map { String(cString: $0) } ?? ""
        let made = try await kernel.call(
            "Circuit.Slideshow.create",
            ["id": .text(id + digits), "name": "visited", "photos": [.text(photos)]])
        let gone = try await kernel.call("Circuit.Slideshow.delete", ["id": .text(id + digits)])
        if made["slideCount"]?.int == 3, !gone.isNull {
            right += 1
        } else {
            note("\(made.json()) \(gone.json())", in: &wrong)
        }
    }

    /// Keeps what went wrong, but no more of it than anybody reads.
    private func note(_ text: String, in list: inout [Value]) {
        if list.count < 20 { list.append(.text(text)) }
    }
}
