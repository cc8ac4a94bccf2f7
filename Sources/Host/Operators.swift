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
        let signal = PayloadShape.Member.optional("signal", .word, "NAME or NUMBER")
        operate("Kernel.Device.kill", "Sends a signal to a device, KILL unless told.", signal) {
            [unowned self] device, payload throws(KernelError) in
            let word = payload["signal"].map { $0.text ?? $0.json() } ?? "KILL"
            guard let signal = SignalName.number(word) else {
                let shown = PayloadShape.shown(.text(word))
                throw KernelError(
                    .malformed,
                    "there is no signal \(shown): say a name such as TERM, or 1 to 64",
                    outcome: .none)
            }
            guard supervisor.kill(device, signal: signal) else {
                throw KernelError(.unavailable, "\(device) has no process", outcome: .none)
            }
        }
        let swaps = PayloadShape.Member.optional("swap", .bool, "BOOL")
        operate("Kernel.Device.restart", "Ends a device and starts it again.", swaps) {
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
        builtin(PayloadShape("Kernel.shutdown"), "Ends the kernel and every device.") {
            [unowned self] _ in
            // The answer leaves before the devices are told.
            EventLoop.shared.schedule(at: 0) { [unowned self] in shutdown() }
            return .null
        }
        declareCancel()
        builtin(PayloadShape("Kernel.Errors.dismiss"), "Forgets the errors told so far.") {
            [unowned self] _ in
            hub.dismissErrors()
            return .null
        }
        declareTracing()
        declareHistory()
        hub.showSymbols()
    }

    private func declareCancel() {
        let shape = PayloadShape(
            "Kernel.Flow.cancel", [.needed("flow", .text, "\"EPOCH-NUMBER\"")])
        builtin(shape, "Ends a flow.") { [unowned self] payload throws(KernelError) in
            let text = payload["flow"]?.text ?? ""
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, let epoch = UInt64(parts[0]), let number = UInt64(parts[1])
            else {
                let shown = PayloadShape.shown(.text(text))
                throw shape.wrong(", as `concentric trace --json` names it, not \(shown)")
            }
            guard epoch == hub.epoch, hub.cancel(flow: number) else {
                throw KernelError(
                    .unavailable,
                    "no flow \(epoch)-\(number) runs, or it is at its end: see `concentric trace`",
                    outcome: .none)
            }
            return .null
        }
    }

    private func swap(_ device: String) throws(KernelError) {
        guard let reason = supervisor.swap(device) else { return }
        throw KernelError(
            .unavailable, "\(device) is not swapped: \(reason)", outcome: .none, retry: true)
    }

    /// Binds a symbol whose payload names a device: its name alone, or an object with `device`.
    private func operate(
        _ name: String, _ summary: String, _ more: PayloadShape.Member...,
        act: @escaping (String, [String: Value]) throws(KernelError) -> Void
    ) {
        let shape = PayloadShape(name, [.needed("device", .text, "NAME")] + more)
        hub.declare(builtin: name, summary: "\(summary) Takes \(shape.usage).") {
            [unowned self] bytes in
            do throws(KernelError) {
                let payload = try shape.read(bytes)
                let device = payload["device"]?.text ?? ""
                guard !seats(meant: device).isEmpty else {
                    let shown = PayloadShape.shown(.text(device))
                    let names = seats.sorted().joined(separator: ", ")
                    throw KernelError(
                        .unbound, "there is no device \(shown); there are \(names)",
                        outcome: .none)
                }
                let swaps = name.hasSuffix(".swap") || payload["swap"]?.bool == true
                let limits = patience(with: device, swaps: swaps)
                try act(device, payload)
                return .success(limits)
            } catch {
                return .failure(error)
            }
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

    // MARK: - Binding

    /// Binds a symbol that takes a value and gives one.
    func builtin(
        _ shape: PayloadShape, _ summary: String, onlyReads: Bool = false,
        _ answer: @escaping ([String: Value]) throws(KernelError) -> Value
    ) {
        hub.declare(
            builtin: shape.symbol, summary: "\(summary) Takes \(shape.usage).", onlyReads: onlyReads
        ) { Self.answer(shape, $0, answer) }
    }

    /// The answer to a payload, once it fits.
    static func answer(
        _ shape: PayloadShape, _ bytes: [UInt8],
        _ answer: ([String: Value]) throws(KernelError) -> Value
    ) -> Result<[UInt8], KernelError> {
        do throws(KernelError) {
            let writer = CBORWriter()
            writer.value(try answer(try shape.read(bytes)))
            return .success(writer.bytes)
        } catch {
            return .failure(error)
        }
    }
}
