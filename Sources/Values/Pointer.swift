/// A place in a value: RFC 6901. The empty pointer is the value itself.
public struct Pointer: Sendable, Hashable, CustomStringConvertible, ExpressibleByArrayLiteral {
    /// The keys and indices on the way, unescaped.
    public var tokens: [String]

    /// Makes a pointer of its unescaped tokens.
    public init(_ tokens: [String] = []) {
        self.tokens = tokens
    }

    /// Makes a pointer of its unescaped tokens.
    public init(arrayLiteral elements: String...) {
        tokens = elements
    }

    /// Reads the text form, such as `/slides/3/photo`; `~1` stands for `/` and `~0` for `~`.
    public init(parsing text: String) throws(PointerError) {
        tokens = []
        guard let first = text.utf8.first else { return }
        guard first == UInt8(ascii: "/") else {
            throw PointerError(
                text: text, position: 0, reason: "a pointer is empty or begins with /")
        }
        guard text.utf8.contains(UInt8(ascii: "~")) else {
            // Nothing is escaped, as in nearly all.
            let slash = UInt8(ascii: "/")
            let rest: Substring.UTF8View = text.utf8.dropFirst()
            tokens = rest.split(separator: slash, omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
            return
        }
        var token: [UInt8] = []
        var bytes = text.utf8.enumerated().dropFirst().makeIterator()
        while let (position, byte) = bytes.next() {
            switch byte {
            case UInt8(ascii: "/"):
                tokens.append(String(decoding: token, as: UTF8.self))
                token = []
            case UInt8(ascii: "~"):
                switch bytes.next()?.element {
                case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
                default:
                    throw PointerError(
                        text: text, position: position, reason: "after ~ stands 0 or 1")
                }
            default:
                token.append(byte)
            }
        }
        tokens.append(String(decoding: token, as: UTF8.self))
    }

    /// The text form.
    public var description: String {
        var text: [UInt8] = []
        for token in tokens {
            text.append(UInt8(ascii: "/"))
            guard token.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") })
            else {
                text.append(contentsOf: token.utf8)
                continue
            }
            for byte in token.utf8 {
                switch byte {
                case UInt8(ascii: "~"): text += [byte, UInt8(ascii: "0")]
                case UInt8(ascii: "/"): text += [UInt8(ascii: "~"), UInt8(ascii: "1")]
                default: text.append(byte)
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether this is the whole value.
    public var isRoot: Bool { tokens.isEmpty }

    /// The pointer to a member or element of what this points at.
    public func appending(_ token: String) -> Pointer {
        Pointer(tokens + [token])
    }

    /// Whether this is the other or stands inside it.
    public func isWithin(_ other: Pointer) -> Bool {
        tokens.starts(with: other.tokens)
    }

    /// What stands at this place; nil where nothing does.
    public func resolve(in value: Value) -> Value? {
        var value = value
        for token in tokens {
            switch value {
            case .map(let members):
                guard let member = members[token] else { return nil }
                value = member
            case .array(let items):
                guard let index = Self.index(token), index < items.count else { return nil }
                value = items[index]
            default: return nil
            }
        }
        return value
    }

    /// The index that a token says by the rule of RFC 6901 §4: digits without a leading zero.
    static func index(_ token: String) -> Int? {
        let digits = token.utf8
        guard let first = digits.first, first != UInt8(ascii: "0") || digits.count == 1,
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(token)
    }
}

/// A text that is no pointer.
public struct PointerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was read.
    public let text: String
    /// The offset in bytes at which reading ended.
    public let position: Int
    /// What a pointer would hold there.
    public let reason: String

    /// One line for a person.
    public var description: String {
        "\"\(text)\" is no pointer: \(reason) (at \(position))"
    }
}
