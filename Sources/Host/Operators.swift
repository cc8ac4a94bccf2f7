import Control
import Installation
import Kernel
import Supervisor
import UnixSocket
import Values
import Wire

/// The kernel's own symbols: what an operator does is a call like any other.
extension House {
    func declareOperators() {
        operate("Kernel.Device.kill", "Sends a signal to a device.") {
            [unowned self] device, payload throws(KernelError) in
            let word = payload["signal"]?.text ?? "KILL"
            guard let signal = SignalName.number(word) else {
                throw KernelError(
                    .malformed, "there is no signal \(word): say a name such as TERM, or a number",
                    outcome: .none)
            }
            guard supervisor.kill(device, signal: signal) else {
                throw KernelError(.unavailable, "\(device) has no process", outcome: .none)
            }
        }
        operate("Kernel.Device.restart", "Ends a device and starts it again.") {
            [unowned self] device, payload throws(KernelError) in
            if payload["swap"]?.bool == true { return try swap(device) }
            supervisor.restart(device)
        }
        operate("Kernel.Device.swap", "Starts a device's next build beside it.") {
            [unowned self] device, _ throws(KernelError) in
            try swap(device)
        }
        operate("Kernel.Device.stop", "Ends a device, which then stays away.") {
            [unowned self] device, _ in supervisor.stop(device)
        }
        operate("Kernel.Device.start", "Starts a device that does not run.") {
            [unowned self] device, _ in
            for seat in seats(meant: device) {
                if let slot = slot(of: seat) {
                    hub.expect(slot, seat: SeatName.number(of: seat))
                }
            }
            supervisor.start(device)
        }
        hub.declare(builtin: "Kernel.shutdown", summary: "Ends the kernel and every device.") {
            [unowned self] _ in
            // The answer leaves before the devices are told.
            EventLoop.shared.schedule(at: 0) { [unowned self] in shutdown() }
            return .success(CBORCoding().void)
        }
        declareCancel()
        hub.declare(
            builtin: "Kernel.Errors.dismiss", summary: "Forgets the errors told so far."
        ) { [unowned self] _ in
            hub.dismissErrors()
            return .success(CBORCoding().void)
        }
        declareTracing()
        declareHistory()
        hub.showSymbols()
    }

    private func declareCancel() {
        hub.declare(builtin: "Kernel.Flow.cancel", summary: "Ends a flow.") {
            [unowned self] bytes in
            Self.answer { () throws(KernelError) in
                let name = "Kernel.Flow.cancel"
                let payload = try Self.value(of: bytes, name)
                let text = payload.text ?? payload["flow"]?.text ?? ""
                let parts = text.split(separator: "-", omittingEmptySubsequences: false)
                guard parts.count == 2, let epoch = UInt64(parts[0]), let number = UInt64(parts[1])
                else {
                    throw KernelError(
                        .malformed, "\(name) takes {\"flow\": \"EPOCH-NUMBER\"}, not \(text)",
                        outcome: .none)
                }
                guard epoch == hub.epoch, hub.cancel(flow: number) else {
                    throw KernelError(
                        .unavailable,
                        "no flow \(text) runs, or it is at its end: see `concentric trace`",
                        outcome: .none)
                }
                return CBORCoding().void
            }
        }
    }

    private func swap(_ device: String) throws(KernelError) {
        guard let reason = supervisor.swap(device) else { return }
        throw KernelError(
            .unavailable, "\(device) is not swapped: \(reason)", outcome: .none, retry: true)
    }

    /// Binds a symbol whose payload names a device: its name alone, or an object with `device`.
    private func operate(
        _ name: String, _ summary: String,
        _ act: @escaping (String, Value) throws(KernelError) -> Void
    ) {
        hub.declare(builtin: name, summary: summary) { [unowned self] bytes in
            Self.answer { () throws(KernelError) in
                let payload = try Self.value(of: bytes, name)
                guard let device = payload.text ?? payload["device"]?.text else {
                    throw KernelError(
                        .malformed, "\(name) takes {\"device\": NAME}", outcome: .none)
                }
                guard !seats(meant: device).isEmpty else {
                    let names = seats.sorted().joined(separator: ", ")
                    throw KernelError(
                        .unbound, "there is no device \(device); there are \(names)",
                        outcome: .none)
                }
                let swaps = name.hasSuffix(".swap") || payload["swap"]?.bool == true
                let limits = patience(with: device, swaps: swaps)
                try act(device, payload)
                return limits
            }
        }
    }

    private static func answer(
        _ act: () throws(KernelError) -> [UInt8]
    ) -> Result<[UInt8], KernelError> {
        do {
            return .success(try act())
        } catch {
            return .failure(error)
        }
    }

    /// The seats of a word: one, or all of a device.
    private func seats(meant word: String) -> [String] {
        seats.filter { SeatName.means(word, $0) }
    }

    /// What the operator is answered: how long, in seconds, the start and the end of a process may
    /// take, so that who waits for them knows when to give up; swaps go from seat to seat. And the
    /// incarnations that serve before it is done, by which who waits knows the next one.
    private func patience(with word: String, swaps: Bool) -> [UInt8] {
        let device = SeatName.device(of: word)
        guard let manifest = manifests.first(where: { $0.name == device }) else {
            return CBORCoding().void
        }
        let seats = seats(meant: word)
        let turns = swaps ? Double(seats.count) : 1
        let incarnations = Dictionary(
            seats.map { ($0, Value.int(Int64(supervisor.status($0)?.incarnation ?? 0))) }
        ) { $1 }
        let writer = CBORWriter()
        writer.value(
            .map([
                "startSeconds": .double(manifest.startLimit * turns),
                "stopSeconds": .double(manifest.stopLimit),
                "incarnations": .map(incarnations),
            ]))
        return writer.bytes
    }

    static func value(of bytes: [UInt8], _ name: String) throws(KernelError) -> Value {
        do {
            return try bytes.withUnsafeBytes { raw in
                var reader = CBORReader(raw)
                return try reader.value()
            }
        } catch {
            throw KernelError(.malformed, "the payload of \(name): \(error)", outcome: .none)
        }
    }
}
