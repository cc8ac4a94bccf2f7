package import Control
package import Values

/// What went wrong where nobody waited, in the region `Kernel.Errors`.
extension Hub {
    /// Writes an error into `Kernel.Errors`, the oldest being forgotten.
    ///
    /// - Parameters:
    ///   - symbol: what has failed: the name of a symbol, or of a peer.
    ///   - flow: the number of the flow that it ended; nil where there is none.
    ///   - more: what else the entry holds.
    /// - Complexity: linear in what `Kernel.Errors` holds, for its followers are sent the change.
    package func report(
        _ symbol: String, _ error: KernelError, flow: UInt64?, _ more: [String: Value] = [:]
    ) {
        let error = error.cut(to: limits.errorBytes)
        let members: [String: Value] = [
            "symbol": .text(symbol.cut(to: limits.errorBytes)),
            "code": .text(error.code.rawValue), "message": .text(error.message),
            "flow": flow.map { .text("\(epoch)-\($0)") } ?? .null, "at": .date(wall),
        ]
        errors.append(.map(members.merging(more) { $1 }))
        if errors.count > limits.errors { errors.removeFirst(errors.count - limits.errors) }
        set(region: RegionSlot.errors, .array(errors))
    }

    /// Writes the failure of a command, with the key that its sender has chosen and looks for.
    func report(_ command: Flow, _ error: KernelError) {
        let key = command.path.flatMap { chosenKey(in: $0, command.symbol) }
        report(
            command.symbol.name, error, flow: command.number,
            key.map { ["key": .text($0)] } ?? [:])
    }

    /// Forgets the errors told so far.
    package func dismissErrors() {
        errors = []
        set(region: RegionSlot.errors, .array([]))
    }
}

extension KernelError {
    /// The same with no more than so many bytes of each text, and a mark: a device may say of its
    /// failures what it likes.
    func cut(to bytes: Int) -> KernelError {
        var error = self
        error.message = message.cut(to: bytes)
        error.code = Code(rawValue: code.rawValue.cut(to: bytes))
        return error
    }
}

extension String {
    /// So many bytes of a text from elsewhere, up to the end of a character, and a mark.
    func cut(to bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: bytes)
        while utf8[end] & 0xC0 == 0x80 { utf8.formIndex(before: &end) }
        return self[..<end] + "…"
    }
}
