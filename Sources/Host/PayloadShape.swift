import Control
import Values
import Wire

/// What one of the kernel's own symbols takes. People write these payloads by hand, and one that is
/// not understood is refused by what is wrong with it: a misspelt word that counted for nothing
/// would have the kernel do something else than it was asked for.
struct PayloadShape {
    struct Member {
        enum Kind: String {
            case text = "no text"
            /// A text, or a number that is meant as one.
            case word = "neither a text nor a number"
            case bool = "neither true nor false"
            case whole = "no whole number"
            case count = "no whole number from 0"

            func accepts(_ value: Value) -> Bool {
                switch self {
                case .text: value.text != nil
                case .word: value.text != nil || value.int != nil
                case .bool: value.bool != nil
                case .whole: value.int != nil
                case .count: value.int.map { $0 >= 0 } ?? false
                }
            }
        }

        let name: String
        let kind: Kind
        /// What stands for its value in the usage.
        let sign: String
        let isNeeded: Bool

        static func needed(_ name: String, _ kind: Kind, _ sign: String) -> Member {
            Member(name: name, kind: kind, sign: sign, isNeeded: true)
        }

        static func optional(_ name: String, _ kind: Kind, _ sign: String) -> Member {
            Member(name: name, kind: kind, sign: sign, isNeeded: false)
        }
    }

    let symbol: String
    let members: [Member]

    init(_ symbol: String, _ members: [Member] = []) {
        self.symbol = symbol
        self.members = members
    }

    /// `{"device": NAME, "signal"?: NAME}`; a question mark stands at what may be missing.
    var usage: String {
        let words = members.map { "\"\($0.name)\"\($0.isNeeded ? "" : "?"): \($0.sign)" }
        return words.isEmpty ? "nothing" : "{\(words.joined(separator: ", "))}"
    }

    /// A text alone stands for the first member, if that is a text; null for none at all.
    /// - Throws: `malformed`, naming what does not fit.
    func read(_ bytes: [UInt8]) throws(KernelError) -> [String: Value] {
        let value: Value
        do {
            value = try bytes.withUnsafeBytes { raw in
                var reader = CBORReader(raw)
                let value = try reader.value()
                try reader.finish()
                return value
            }
        } catch {
            throw KernelError(.malformed, "the payload of \(symbol): \(error)", outcome: .none)
        }
        return try check(value)
    }

    func check(_ value: Value) throws(KernelError) -> [String: Value] {
        if let first = members.first, first.kind == .text, first.isNeeded, value.text != nil {
            return [first.name: value]
        }
        guard let map = value.isNull ? [:] : value.map else {
            throw wrong(", not \(Self.shown(value))")
        }
        let known = Set(members.map(\.name))
        if let other = map.keys.filter({ !known.contains($0) }).min() {
            throw wrong(": there is no \(Self.shown(.text(other)))")
        }
        var found: [String: Value] = [:]
        for member in members {
            guard let value = map[member.name], !value.isNull else {
                if member.isNeeded { throw wrong(": \"\(member.name)\" is missing") }
                continue
            }
            guard member.kind.accepts(value) else {
                throw wrong(
                    ": \"\(member.name)\" is \(Self.shown(value)), \(member.kind.rawValue)")
            }
            found[member.name] = value
        }
        return found
    }

    /// An error that says what the symbol takes.
    func wrong(_ what: String) -> KernelError {
        KernelError(.malformed, "\(symbol) takes \(usage)\(what)", outcome: .none)
    }

    private static let mostShown = 60

    /// A value as it is written, or the beginning of one.
    static func shown(_ value: Value) -> String {
        let text = value.json()
        return text.count > mostShown ? "\(text.prefix(mostShown))…" : text
    }
}
