import Contract

/// Where a scan goes on: strictly behind the last entry that it looked at. It is text because it
/// travels through clients that only hand it back: `root:kind:relative/path`.
struct ScanCursor: Equatable {
    enum Kind: String {
        /// The entry was a file.
        case file = "f"
        /// The entry was a folder, and nothing in it was looked at yet.
        case folder = "d"
    }

    /// The index of the path that is being scanned.
    var root: Int
    var kind: Kind
    /// The names below that path; empty when the path itself is meant.
    var names: [String]

    init(root: Int, kind: Kind, names: [String]) {
        self.root = root
        self.kind = kind
        self.names = names
    }

    /// Reads a cursor of a scan of that many paths. A cursor is an outside value: one that would
    /// lead out of its path is refused.
    init(_ text: String, pathCount: Int) throws(ApplicationError) {
        // By bytes: to text a slash is another character when an accent follows it.
        let parts = text.utf8.split(
            separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let root = Int(Substring(parts[0])),
            (0..<pathCount).contains(root), let kind = Kind(rawValue: String(Substring(parts[1]))),
            !text.utf8.contains(0)
        else { throw Self.invalid }
        self.root = root
        self.kind = kind
        self.names = []
        guard !parts[2].isEmpty else { return }
        let names = parts[2].split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for name in names.map({ String(Substring($0)) }) {
            guard !name.isEmpty, name != ".", name != ".." else { throw Self.invalid }
            self.names.append(name)
        }
    }

    var text: String { "\(root):\(kind.rawValue):\(names.joined(separator: "/"))" }

    private static let invalid = ApplicationError(
        code: ApplicationError.Code.invalidCursor,
        message: "The cursor belongs to no scan of these paths; start without one.")
}
