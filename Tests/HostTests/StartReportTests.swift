import Glibc
import Testing

@testable import Host
@testable import Installation
@testable import Supervisor

/// What is said of starts that fail.
@Suite struct StartReportTests {
    private func status(
        _ state: DeviceState, _ reason: String = "", errors: [String] = []
    ) -> DeviceStatus {
        DeviceStatus(
            name: "d", state: state, asked: .start, pid: 0, incarnation: 1, restarts: 0,
            lastExit: reason,
            reason: reason, errorLines: errors)
    }

    enum Step {
        case launched, ready, greetedDeath, silentDeath, cell
        case refused(String)
    }

    static let lives: [(steps: [Step], says: String)] = [
        ([.launched, .silentDeath], "exit 1; it had not said hello 1.5 s after its start; last"),
        (
            [.launched, .greetedDeath],
            "exit 1; it said hello and was not ready 1.5 s after its start; last"
        ),
        // Why it was cut off tells more than how far it came.
        ([.launched, .refused("wire 99"), .silentDeath], "exit 1; wire 99; last"),
        // The next start has not failed yet: what is known is of the one before.
        (
            [.launched, .silentDeath, .launched],
            "exit 1; it had not said hello 1.5 s after its start; last"
        ),
        // What a cell does says nothing about the device.
        (
            [.launched, .cell, .silentDeath, .launched, .cell],
            "exit 1; it had not said hello 1.5 s after its start; last"
        ),
        ([.launched, .ready, .greetedDeath], "exit 1; last"),
        ([.launched, .silentDeath, .launched, .ready, .silentDeath], "exit 1; last"),
        ([], "exit 1; last"),
    ]

    @Test(arguments: 0..<lives.count)
    func `the reason of a state says how far the last start came`(_ index: Int) {
        var report = StartReport(executable: "/p")
        for step in Self.lives[index].steps {
            switch step {
            case .launched: report.launched(1, at: 1_000_000_000)
            case .ready: report.becameReady(1)
            case .greetedDeath: report.died(1, at: 2_500_000_000, hasGreeted: true)
            case .silentDeath: report.died(1, at: 2_500_000_000, hasGreeted: false)
            case .cell:
                report.becameReady(2)
                report.died(2, at: 9_000_000_000, hasGreeted: true)
            case .refused(let reason): report.refused(1, reason)
            }
        }
        #expect(
            report.why(status(.waiting, "exit 1", errors: ["last"])) == Self.lives[index].says)
    }

    @Test func `a reason that all of them tell is said once`() {
        var report = StartReport(executable: "/p")
        report.launched(1, at: 0)
        report.refused(1, "d leaves A.b unbound")
        report.died(1, at: 1, hasGreeted: false)
        report.launched(2, at: 2)
        let lines = ["before", "/p: the kernel refused this device: denied: d leaves A.b unbound"]
        let status = status(.failed, "d leaves A.b unbound", errors: lines)
        #expect(report.why(status) == "d leaves A.b unbound; before")
    }

    @Test func `the first failure is told once, and only a failure`() {
        var report = StartReport(executable: "/p")
        #expect(report.firstFailure(status(.starting)) == nil)
        #expect(report.firstFailure(status(.ready)) == nil)
        let line = report.firstFailure(status(.starting, "exit 1"))
        #expect(line == "the device d (/p) did not start: exit 1; trying again")
        #expect(report.firstFailure(status(.waiting, "exit 1")) == nil)
    }

    @Test func `a line is new once until the device was ready`() {
        var report = StartReport(executable: "/p")
        var answers = ["ended: exit 1", "ended: exit 1", "ended: exit 2"].map { report.isNew($0) }
        report.becameReady(0)
        answers.append(report.isNew("ended: exit 1"))
        #expect(answers == [true, false, true, true])
    }

    @Test func `a line for a pipe that nobody reads is lost and not waited for`() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let line = String(repeating: "x", count: 60_000) + "\n"
        for _ in 0..<4 { put(line, on: ends[1]) }
        var block = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(ends[0], &block, block.count)
        #expect(count > 60_000 && count <= 65_536)
        put("there\n", on: ends[1])
        #expect(read(ends[0], &block, block.count) == 6)
        put("nowhere\n", on: -1)
    }

    static let reserves: [(devices: Int, seats: Int, descriptors: Int)] = [
        (0, 0, 48), (1, 1, 100), (3, 3, 204), (1, 2, 112), (3, 5, 228), (1, 64, 856),
    ]

    @Test(arguments: 0..<reserves.count)
    func `what is kept for devices grows with their number`(_ index: Int) {
        let (devices, seats, descriptors) = Self.reserves[index]
        #expect(DescriptorLimits.reserve(devices: devices, seats: seats) == descriptors)
    }
}
