import Control
import Kernel
import Values
import Wire

/// History and time travel as symbols. The history is read in pages, as the trace is; a preview
/// concerns the connection on which it is asked for.
extension House {
    func declareHistory() {
        let read = PayloadShape(
            "Kernel.History.read",
            [
                .needed("region", .text, "NAME"), .optional("after", .count, "NUMBER"),
                .optional("last", .count, "NUMBER"),
            ])
        builtin(read, "A page of a region's history.", onlyReads: true) {
            [unowned self] payload throws(KernelError) in
            try hub.readHistory(
                of: payload["region"]?.text ?? "",
                after: payload["after"]?.int.map { UInt64(clamping: $0) },
                last: payload["last"]?.int.map { UInt64(clamping: $0) })
        }
        let preview = PayloadShape(
            "Kernel.History.preview",
            [
                .optional("revision", .text, "\"EPOCH-COUNTER\""),
                .optional("steps", .whole, "NUMBER"),
            ])
        personal(preview, "Moves this client's regions into the past.") {
            [unowned self] peer, payload throws(KernelError) in
            try hub.preview(peer, Self.journey(payload, preview))
        }
        let leave = PayloadShape("Kernel.History.leave")
        personal(leave, "Moves this client's regions to the present.") { [unowned self] peer, _ in
            hub.leavePreview(peer)
            return .null
        }
    }

    /// Binds a symbol that concerns who calls it.
    private func personal(
        _ shape: PayloadShape, _ summary: String,
        _ act: @escaping (Peer, [String: Value]) throws(KernelError) -> Value
    ) {
        hub.declare(personal: shape.symbol, summary: "\(summary) Takes \(shape.usage).") {
            peer, bytes in
            Self.answer(shape, bytes) { payload throws(KernelError) in try act(peer, payload) }
        }
    }

    private static func journey(
        _ payload: [String: Value], _ shape: PayloadShape
    ) throws(KernelError) -> Hub.Journey {
        switch (payload["revision"]?.text, payload["steps"]?.int) {
        case (let text?, nil):
            guard let revision = Revision(text) else {
                throw shape.wrong(
                    ": \"revision\" is \(PayloadShape.shown(.text(text))), no revision")
            }
            return .revision(revision)
        case (nil, let count?): return .steps(Int(clamping: count))
        default: throw shape.wrong(": say one of them")
        }
    }
}
