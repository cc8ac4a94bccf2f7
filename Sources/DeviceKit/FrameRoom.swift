internal import Control
internal import Wire

/// What one frame carries. A frame that the kernel refuses costs the connection, so what does not
/// fit is refused here, where somebody is told.
enum FrameRoom {
    /// Bytes of a payload: a frame less what stands around it.
    static let payload = WireLimits.frame - 1_024

    /// - Parameter what: what has so many bytes.
    /// - Throws: `tooLarge`.
    static func check(_ count: Int, _ what: @autoclosure () -> String) throws(KernelError) {
        guard count <= payload else {
            throw KernelError(
                .tooLarge, "\(what()) has \(count) bytes; the limit is \(payload)", outcome: .none)
        }
    }

    /// Checks what goes to a symbol or channel, under its sender's own key if that has one.
    /// - Throws: `malformed`, `tooLarge`.
    static func check(
        _ payload: [UInt8], for name: String, key: String? = nil
    ) throws(KernelError) {
        try check(name: name)
        let own = key?.utf8.count ?? 0
        try check(
            payload.count + own, "the payload of \(name)\(own > 0 ? " with its key" : "")")
    }

    /// Whether it may name a symbol, region or channel.
    static func isName(_ name: String) -> Bool {
        (1...WireLimits.name).contains(name.utf8.count)
    }

    /// - Throws: `malformed` for what is no name.
    static func check(name: String) throws(KernelError) {
        guard !name.isEmpty else {
            throw KernelError(
                .malformed,
                "the name of a symbol, region or channel is empty; `concentric symbols` lists "
                    + "the symbols", outcome: .none)
        }
        guard isName(name) else {
            throw KernelError(
                .malformed,
                "a name, with the pointer to a part of a region, has 1 to \(WireLimits.name) "
                    + "bytes; “\(name.prefix(64))” has \(name.utf8.count)", outcome: .none)
        }
    }
}
