import Control
import Kernel
import Values
import Wire

/// History and time travel as symbols. The history is read in pages, as the trace is; a preview
/// concerns the connection on which it is asked for.
extension House {
    func declareHistory() {
        hub.declare(
            builtin: "Kernel.History.read",
            summary: "A page of a region's history: {region: name, after: number, last: number}.",
            onlyReads: true
        ) { [unowned self] bytes in
            Self.answering { () throws(KernelError) in
                let payload = try Self.value(of: bytes, "Kernel.History.read")
                guard let region = payload["region"]?.text else {
                    throw KernelError(
                        .malformed,
                        "Kernel.History.read takes {\"region\": NAME, \"after\": N, \"last\": N}",
                        outcome: .none)
                }
                return try hub.readHistory(
                    of: region, after: payload["after"]?.int.map { UInt64(clamping: $0) },
                    last: payload["last"]?.int.map { UInt64(clamping: $0) })
            }
        }
        hub.declare(
            personal: "Kernel.History.preview",
            summary: "Moves this client's regions into the past: {revision: text} or {steps: n}."
        ) { [unowned self] peer, bytes in
            Self.answering { () throws(KernelError) in
                try hub.preview(peer, Self.journey(bytes))
            }
        }
        hub.declare(
            personal: "Kernel.History.leave", summary: "Moves this client's regions to the present."
        ) { [unowned self] peer, _ in
            hub.leavePreview(peer)
            return .success(CBORCoding().void)
        }
    }

    private static func journey(_ bytes: [UInt8]) throws(KernelError) -> Hub.Journey {
        let payload = try value(of: bytes, "Kernel.History.preview")
        switch (payload["revision"], payload["steps"]) {
        case (let text?, nil):
            if let revision = text.text.flatMap({ Revision($0) }) { return .revision(revision) }
        case (nil, let count?):
            if let steps = count.int { return .steps(Int(clamping: steps)) }
        default: break
        }
        throw KernelError(
            .malformed,
            "Kernel.History.preview takes {\"revision\": \"EPOCH-COUNTER\"} or {\"steps\": N}",
            outcome: .none)
    }

    private static func answering(
        _ act: () throws(KernelError) -> Value
    ) -> Result<[UInt8], KernelError> {
        do {
            let writer = CBORWriter()
            writer.value(try act())
            return .success(writer.bytes)
        } catch {
            return .failure(error)
        }
    }
}
