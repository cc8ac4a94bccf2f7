import Control
import Glibc
import Testing

/// The promises of the hub in runs that chance makes, and under a kill at every step.
@Suite struct SimulationTests {
    /// How many seeds are tried; `CONCENTRIC_SEEDS` asks for more.
    static let seeds = getenv("CONCENTRIC_SEEDS").flatMap { Int(String(cString: $0)) } ?? 2_000

    /// A failing run names its seed; `World(seed:)` makes the same run again.
    @Test(arguments: 0..<(seeds / 50))
    func `whatever fails, work ends once and effects are made once`(_ block: Int) throws {
        for seed in (block * 50)..<(block * 50 + 50) {
            let world = try World(seed: UInt64(seed))
            if let breach = world.run() {
                Issue.record(
                    "seed \(seed): \(breach)\n\(world.trace.suffix(60).joined(separator: "\n"))")
            }
        }
    }

    static let fixed: [[String]] = [
        ["linear"], ["create"], ["update"], ["imperative"], ["outer"], ["race", "create"],
        ["failing", "update"], ["fork"], ["forkfail"], ["deep"], ["loop"], ["nested"], ["late"],
        ["own"], ["announce"], ["tell", "announce"], ["send"],
    ]

    @Test(arguments: fixed)
    func `a kill of each device at every step loses nothing and doubles nothing`(
        _ programs: [String]
    ) throws {
        let base = try World(seed: 1, programs: programs, faults: false)
        try #require(base.run() == nil, "without a kill: \(base.broken ?? "")")
        try #require(base.steps > 5)
        for step in 1...base.steps {
            for kind in Kind.allCases {
                let world = try World(
                    seed: 1, programs: programs, faults: false, kills: [step: [kind]])
                if let breach = world.run() {
                    let trace = world.trace.joined(separator: "\n")
                    Issue.record("\(kind) killed at step \(step): \(breach)\n\(trace)")
                }
            }
        }
    }

    @Test func `cells and swaps are part of these runs`() throws {
        var cells = 0
        var swaps = 0
        for seed in 0..<60 {
            let world = try World(seed: UInt64(seed))
            _ = world.run()
            cells += world.cells
            swaps += world.swaps
        }
        #expect(cells > 20)
        #expect(swaps > 20)
    }

    @Test func `a kernel that is full refuses flows and ends flows in these runs`() throws {
        var refused = 0
        var ended = 0
        for seed in stride(from: 7, to: 800, by: 8) {
            let world = try World(seed: UInt64(seed))
            #expect(world.run() == nil)
            for command in world.commands {
                guard case .failure(let error) = world.outcomes[command.who],
                    error.code == .overloaded
                else { continue }
                if error.outcome == .none { refused += 1 } else { ended += 1 }
            }
        }
        #expect(refused > 20)
        #expect(ended > 10)
    }

    @Test func `the same seed makes the same run`() throws {
        let first = try World(seed: 11)
        let second = try World(seed: 11)
        #expect(first.run() == second.run())
        #expect(first.trace == second.trace)
        #expect(first.steps > 50)
    }
}
