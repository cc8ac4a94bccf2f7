internal import Values

/// The keys under which a repeat of an effect is recognised: paths from the root down.
extension Hub {
    /// The path that names the present step of a flow for ever.
    func key(of flow: Flow) -> String {
        "\(flow.path ?? "\(epoch)-\(flow.number)")/\(flow.step)"
    }

    /// What follows the name of an operation in its key: the digest of what it carries, and n.
    ///
    /// Different ones that have one digest are numbered in the order in which they came: a key that
    /// two of them shared would take the second for a repeat of the first. It is told once, when
    /// the operation is done; a repeat joins its entry, so that its order does not matter. Below a
    /// caller's own key, which may come again when this kernel and its records are gone, no order
    /// counts.
    func place(of entry: Entry, _ carried: [UInt8], in flow: Flow) -> String {
        if Hub.isOwn(flow.path) {
            return "\(StrongDigest.text(carried)):\(entry.number)"
        }
        let digest = Digest.of(carried)
        let rank = flow.record?.rank(entry, digest) ?? 0
        let text = digest.hexadecimal
        return rank == 0 ? "\(text):\(entry.number)" : "\(text).\(rank):\(entry.number)"
    }

    // MARK: - Keys that callers choose

    /// How the keys begin that a caller has chosen.
    static let ownRoot = "own:"

    /// Whether a path begins with a caller's own key. Bytes are compared: a key that begins with a
    /// combining mark makes one character with what stands before it.
    static func isOwn(_ path: String?) -> Bool {
        path?.utf8.starts(with: ownRoot.utf8) == true
    }

    /// A key of the caller's own stands for one symbol and payload: with others it is another.
    func ownPath(_ key: String?, _ symbol: SymbolSlot, _ payload: [UInt8]) -> String? {
        key.map { "\(Hub.ownRoot)\($0)/\(symbol.name):\(StrongDigest.text(payload))" }
    }

    /// What a caller has chosen, in the path that `ownPath` makes of it.
    func chosenKey(in path: String, _ symbol: SymbolSlot) -> String? {
        guard Hub.isOwn(path), let digest = path.utf8.lastIndex(of: UInt8(ascii: ":")) else {
            return nil
        }
        let keyAndSymbol = path.utf8[..<digest].dropFirst(Hub.ownRoot.utf8.count)
        let end = "/\(symbol.name)".utf8
        guard keyAndSymbol.suffix(end.count).elementsEqual(end) else { return nil }
        return String(Substring(keyAndSymbol.dropLast(end.count)))
    }

    /// The key of the present step; a long one is a digest of it.
    func ownKey(of flow: Flow) -> String {
        let key = key(of: flow)
        guard key.utf8.count > 2 * limits.keyBytes else { return key }
        return "\(Hub.ownRoot)#\(StrongDigest.text(Array(key.utf8)))"
    }
}
