import Control
import Kernel
import Values
import Wire

/// The trace as symbols. It is read in pages, by whoever wants to know, as fast as it likes: a slow
/// reader costs the kernel nothing, and is told how much it has missed.
extension House {
    func declareTracing() {
        builtin(
            "Kernel.Trace.capture", "Switches the trace on or off: {on: bool, payloads: bool}."
        ) { [unowned self] payload throws(KernelError) in
            guard let on = payload["on"]?.bool else {
                throw KernelError(
                    .malformed, "Kernel.Trace.capture takes {\"on\": BOOL, \"payloads\": BOOL}",
                    outcome: .none)
            }
            hub.capture(on: on, payloads: payload["payloads"]?.bool ?? false)
            return .null
        }
        builtin(
            "Kernel.Trace.read",
            "A page of the trace: {after: number, running: bool, hold: seconds, payloads: bool}.",
            onlyReads: true
        ) { [unowned self] payload in
            let page = hub.readTrace(
                after: payload["after"]?.int.map { UInt64(clamping: $0) },
                running: payload["running"]?.bool ?? false
            ) { [unowned self] bytes in
                DiagnosticNotation.text(of: bytes, limit: hub.limits.tracePayload)
            }
            // A hold keeps the trace on for a while, so that a reader which is killed leaves
            // nothing behind.
            let hold = UInt64(clamping: min(payload["hold"]?.int ?? 0, 86_400))
            hub.holdTrace(hold * 1_000_000_000, payloads: payload["payloads"]?.bool ?? false)
            return page
        }
    }

    /// Binds a symbol that takes a value and gives one.
    private func builtin(
        _ name: String, _ summary: String, onlyReads: Bool = false,
        _ answer: @escaping (Value) throws(KernelError) -> Value
    ) {
        hub.declare(builtin: name, summary: summary, onlyReads: onlyReads) { bytes in
            do throws(KernelError) {
                let writer = CBORWriter()
                writer.value(try answer(try Self.value(of: bytes, name)))
                return .success(writer.bytes)
            } catch {
                return .failure(error)
            }
        }
    }
}
