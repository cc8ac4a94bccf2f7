import Control
import Kernel
import Values
import Wire

/// The trace as symbols. It is read in pages, by whoever wants to know, as fast as it likes: a slow
/// reader costs the kernel nothing, and is told how much it has missed.
extension House {
    func declareTracing() {
        let capture = PayloadShape(
            "Kernel.Trace.capture",
            [.needed("on", .bool, "BOOL"), .optional("payloads", .bool, "BOOL")])
        builtin(capture, "Switches the trace on or off.") { [unowned self] payload in
            hub.capture(
                on: payload["on"]?.bool ?? false, payloads: payload["payloads"]?.bool ?? false)
            return .null
        }
        let read = PayloadShape(
            "Kernel.Trace.read",
            [
                .optional("after", .count, "NUMBER"), .optional("running", .bool, "BOOL"),
                .optional("hold", .count, "SECONDS"), .optional("payloads", .bool, "BOOL"),
            ])
        builtin(read, "A page of the trace.", onlyReads: true) { [unowned self] payload in
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
}
