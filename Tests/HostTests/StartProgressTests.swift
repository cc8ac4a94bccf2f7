import Testing

@testable import Host
@testable import Supervisor

@Suite struct StartProgressTests {
    static let lives: [(states: [DeviceState], waits: Bool)] = [
        ([], true),
        ([.starting], true),
        ([.starting, .waiting], true),
        ([.starting, .late], true),
        ([.starting, .failed], true),
        ([.starting, .ready], false),
        // It has done what it is for, before a slow sibling was ready.
        ([.starting, .ready, .done], false),
        ([.starting, .done], false),
        // What became of it since is another matter.
        ([.starting, .ready, .waiting, .starting], false),
        ([.starting, .ready, .late], false),
        ([.starting, .ready, .failed], true),
        // The operator does not want it.
        ([.starting, .stopped], false),
        ([.starting, .ready, .stopped], false),
        ([.starting, .stopped, .starting], true),
    ]

    @Test(arguments: 0..<lives.count)
    func `the start waits for who was never ready and was not stopped`(_ index: Int) {
        let (states, waits) = Self.lives[index]
        var progress = StartProgress()
        for state in states { progress.note("d", state) }
        progress.note("sibling", .ready)
        #expect(progress.waits(for: "d", in: states.last) == waits, "\(states)")
    }
}
