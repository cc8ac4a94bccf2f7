/// The type of a named value in the kernel's buffer.
///
/// A region is declared by a device's manifest, with its initial value; the type says how this
/// process reads it. Values are null, bool, 64-bit integer, finite double, text, bytes, date, UUID,
/// and arrays and text-keyed maps of these.
public protocol Region: Codable, Sendable {
    /// The name in the manifest; by default the name of the type.
    static var region: String { get }
}

extension Region {
    /// The name of the type.
    public static var region: String { "\(Self.self)" }
}

/// A point in the life of the buffer: which kernel, and how many commits since it started.
public struct Revision: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The kernel's start; larger for a later start.
    public var epoch: UInt64
    /// Commits since then.
    public var counter: UInt64

    /// A revision of its parts.
    public init(epoch: UInt64, counter: UInt64) {
        self.epoch = epoch
        self.counter = counter
    }

    /// The revision that a text of the form `epoch-counter` names; nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = Self.number(parts[0]),
            let counter = Self.number(parts[1])
        else { return nil }
        self.init(epoch: epoch, counter: counter)
    }

    private static func number(_ text: Substring) -> UInt64? {
        text.first == "+" ? nil : UInt64(text)
    }

    /// `epoch-counter`.
    public var description: String { "\(epoch)-\(counter)" }

    /// Earlier epochs come first.
    public static func < (a: Revision, b: Revision) -> Bool {
        (a.epoch, a.counter) < (b.epoch, b.counter)
    }
}
