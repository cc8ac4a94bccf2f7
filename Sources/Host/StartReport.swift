import Supervisor
import UnixSocket

/// What is known of the starts of one device, for people whose `up` fails.
struct StartReport {
    /// The path of its program.
    let executable: String
    private var incarnation = 0
    private var launchedAt: UInt64?
    private var isReady = false
    /// Why the kernel cut the process off.
    private var refusal = ""
    /// What is known of the last death of a process that was not ready yet: why the kernel cut it
    /// off, or how far it came.
    private var stage = ""
    /// Since it was last ready.
    private var said: Set<String> = []
    private var isTold = false

    init(executable: String) {
        self.executable = executable
    }

    mutating func launched(_ incarnation: Int, at now: UInt64) {
        self.incarnation = incarnation
        launchedAt = now
        isReady = false
        refusal = ""
    }

    mutating func becameReady(_ incarnation: Int) {
        guard incarnation == self.incarnation else { return }
        isReady = true
        stage = ""
        said = []
    }

    mutating func refused(_ incarnation: Int, _ reason: String) {
        if incarnation == self.incarnation { refusal = reason }
    }

    /// Of a cell, nothing is kept.
    mutating func died(_ incarnation: Int, at now: UInt64, hasGreeted: Bool) {
        guard incarnation == self.incarnation, let begun = launchedAt, !isReady else { return }
        launchedAt = nil
        stage = refusal
        guard refusal.isEmpty else { return }
        let tenths = (now - min(begun, now) + 50_000_000) / 100_000_000
        let step = hasGreeted ? "it said hello and was not ready" : "it had not said hello"
        stage = "\(step) \(tenths / 10).\(tenths % 10) s after its start"
    }

    /// Whether a line of the kernel about the device was not said since it was last ready.
    mutating func isNew(_ line: String) -> Bool { said.insert(line).inserted }

    /// The first failed start of the device, to be told at once; nil if there was none, or it has
    /// been told.
    mutating func firstFailure(_ status: DeviceStatus) -> String? {
        let hasFailed =
            status.state == .waiting || (status.state == .starting && !status.reason.isEmpty)
        guard hasFailed, !isTold else { return nil }
        isTold = true
        return "\(subject(status)) did not start: \(why(status)); trying again"
    }

    func subject(_ status: DeviceStatus) -> String {
        "the device \(status.name) (\(executable))"
    }

    /// Why the device is in its state, in one line.
    func why(_ status: DeviceStatus) -> String {
        let reason = status.reason.isEmpty ? status.lastExit : status.reason
        let parts = stage.isEmpty || stage == reason ? [reason] : [reason, stage]
        // A device repeats why it was refused.
        let lines = status.errorLines.suffix(3).filter { stage.isEmpty || !$0.contains(stage) }
        return (parts.filter { !$0.isEmpty } + lines).joined(separator: "; ")
    }
}
