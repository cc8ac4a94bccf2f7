import Supervisor
import UnixSocket

/// What is known of the starts of one device, for people whose `up` fails.
struct StartReport {
    /// The path of its program.
    let executable: String
    private var launchedAt: UInt64?
    private var isReady = false
    /// Why the kernel cut the last process off.
    private var refusal = ""
    /// How far the last process came that died before it was ready.
    private var stage = ""

    init(executable: String) {
        self.executable = executable
    }

    mutating func launched(at now: UInt64) {
        launchedAt = now
        isReady = false
        refusal = ""
        stage = ""
    }

    mutating func becameReady() { isReady = true }

    mutating func refused(_ reason: String) { refusal = reason }

    mutating func died(at now: UInt64, hasGreeted: Bool) {
        guard let begun = launchedAt, !isReady else {
            stage = ""
            return
        }
        let tenths = (now - min(begun, now)) / 100_000_000
        let step = hasGreeted ? "it said hello and was not ready" : "it had not said hello"
        stage = "\(step) \(tenths / 10).\(tenths % 10) s after its start"
        launchedAt = nil
    }

    /// Why the device is in its state, in one line.
    func why(_ status: DeviceStatus) -> String {
        let reason = status.reason.isEmpty ? status.lastExit : status.reason
        let parts = [reason, refusal, stage].filter { !$0.isEmpty }
        return (parts + status.errorLines.suffix(3)).joined(separator: "; ")
    }
}
