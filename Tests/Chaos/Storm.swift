import DeviceKit
import Glibc

/// Ends, stops and swaps devices at random moments.
@LoopActor
final class Storm {
    private enum Event {
        case kill
        /// A death that counts as the device's own doing.
        case crash
        case stop
        /// Stopped for longer than the kernel waits.
        case leave
        case restart
        case swap
    }

    private let control: Kernel
    private let ledger: Ledger
    private var random: Random
    /// Deaths of its own doing since a device was last forgiven. More of them would keep it away
    /// for longer and longer, as they should, and the run waiting.
    private var crashes: [String: Int] = [:]
    private var sleepers = 0

    init(_ control: Kernel, _ ledger: Ledger, _ random: Random) {
        self.control = control
        self.ledger = ledger
        self.random = random
    }

    func run() async {
        while ledger.kills < ledger.options.kills {
            let pause = random.chance(300) ? 0...6 : 4...50
            try? await Program.pause(
                milliseconds: UInt64(Int.random(in: pause, using: &random)))
            guard ledger.mayKill, let (device, pid) = target() else { continue }
            await strike(
                random.pick([
                    (80, .kill), (6, .crash), (12, .stop), (1, .leave), (3, .restart), (12, .swap),
                ]), device, pid)
        }
    }

    /// Every device serves again, whatever was done to it.
    func calm() async throws {
        let deadline = Entry.now + 60
        while sleepers > 0 || !rows.allSatisfy({ $0["state"]?.text == "ready" }) {
            guard Entry.now < deadline else {
                throw Failure("not ready after 60 s: \(Value.array(rows).json())")
            }
            try await Program.pause(milliseconds: 5)
        }
    }

    private var rows: [Value] { control.value(of: "Kernel.Devices")?.value.array ?? [] }

    private func target() -> (device: String, pid: Int32)? {
        let name = random.pick([
            (35, "circuit"), (35, "infrastructure"), (20, "compute"),
            (ledger.atPost > 0 ? 60 : 5, "post"),
        ])
        guard let row = rows.first(where: { $0["name"]?.text == name }),
            let pid = row["pid"]?.int.map({ Int32(clamping: $0) }), isChild(pid),
            // Now and then one that is just starting.
            row["state"]?.text == "ready" || random.chance(250)
        else { return nil }
        return (name, pid)
    }

    /// The number may belong to another process by now.
    private func isChild(_ pid: Int32) -> Bool {
        pid > 1 && Files.parent(ofProcess: pid) == control.pid
    }

    private func strike(_ event: Event, _ device: String, _ pid: Int32) async {
        switch event {
        case .crash where crashes[device, default: 0] < 2:
            crashes[device, default: 0] += 1
            ledger.kills += 1
            kill(pid, random.chance(500) ? SIGSEGV : SIGABRT)
        case .kill, .crash:
            ledger.kills += 1
            kill(pid, SIGKILL)
        case .stop: stop(pid, milliseconds: Int.random(in: 1...150, using: &random))
        case .leave: stop(pid, milliseconds: 1_500)
        case .restart:
            if await operate("Kernel.Device.restart", device) { ledger.restarts += 1 }
        case .swap:
            if await operate("Kernel.Device.swap", device) { ledger.swaps += 1 }
        }
    }

    private func stop(_ pid: Int32, milliseconds: Int) {
        ledger.stops += 1
        sleepers += 1
        kill(pid, SIGSTOP)
        Program.spawn { [self] in
            try? await Program.pause(milliseconds: UInt64(milliseconds))
            if isChild(pid) { kill(pid, SIGCONT) }
            sleepers -= 1
        }
    }

    /// A second swap while one is under way is refused, which is no event.
    private func operate(_ symbol: String, _ device: String) async -> Bool {
        do {
            _ = try await control.call(symbol, .map(["device": .text(device)]))
            crashes[device] = 0
            return true
        } catch {
            let said = KernelError(error)
            if said.code != .unavailable { ledger.note(.lost, "\(symbol) \(device): \(said)") }
            return false
        }
    }
}
