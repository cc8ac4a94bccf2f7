import FoundationEssentials
import Values

/// The shapes of `Codable` that applications are made of, and those that only a test thinks of.
enum CodableShapes {
    enum Kind: String, Codable { case still, movie }
    enum Transition: Codable, Equatable {
        case cut
        case fade(seconds: Double)
        case wipe(angle: Int, String)
    }
    struct Record: Codable, Equatable {
        var id = UUID(UUIDBytes(high: 1, low: 2))
        var title = "a title"
        var at = Date(timeIntervalSince1970: 1_700_000_000.25)
        var kind = Kind.movie
        var frame: [String: Double] = ["w": 1.5, "h": -2]
        var ratings = [1, 22, 333, -4444]
        var note: String?
        var missing: Int?
        var transition = Transition.wipe(angle: 3, "left")
        var data: [UInt8] = [1, 2, 3]
    }
    static let record = Record(note: "a note")

    struct Numbers: Codable, Equatable {
        var a = Int8.min, b = Int16.max, c = Int32.min, d = Int64.max, e = UInt8.max
        var f = UInt16.max, g = UInt32.max, h: UInt64 = 1, i: UInt = 2, j: Float = 0.1
        var k = true, l = Double.pi
    }
    struct Empty: Codable, Equatable {}
    struct Tree: Codable, Equatable { var children: [Tree] = [] }
    struct Wrapped: Codable, Equatable, Hashable, RawRepresentable { var rawValue: Int }

    static let wide = Dictionary(uniqueKeysWithValues: (0..<300).map { ("key \($0)", $0) })

    static let all: [CBORCodableTests.Shape] = [
        .init(record), .init(Numbers()), .init(Empty()), .init([record, record]), .init("text"),
        .init(5), .init(1.5), .init(true), .init(Date(timeIntervalSince1970: -0.5)),
        .init(UUID(UUIDBytes(high: 3, low: 4))), .init([UInt8](0..<100)), .init(Data([1, 2])),
        .init(Int?.none), .init(Int?.some(1)), .init([1, nil, 3] as [Int?]), .init([[1], [], [2]]),
        .init([String](repeating: "x", count: 70_000)), .init((0..<300).map { "\($0)" }),
        .init(wide), .init([1: "a", -2: "b"]),
        .init([Kind.still: 1].keys.sorted { $0.rawValue < $1.rawValue }),
        .init([Wrapped(rawValue: 1): "x"]), .init(Wrapped(rawValue: 7)),
        .init([Transition.cut, .fade(seconds: 1)]),
        .init(Tree(children: [Tree(), Tree(children: [Tree()])])), .init(Set([5])),
        .init(["a": ["b": ["c": [Kind.still]]]]), .init(Value.map(["x": [1, .null]])),
        .init(["v": Value.date(5)]), .init(UUIDBytes(high: 5, low: 6)),
        .init(Patch([.move(from: ["a"], to: ["b"])])), .init(Optional(Optional(Kind.still))),
        .init(Nested()), .init(Interleaved()), .init(Shared(name: "n", size: 3)),
        .init(Apart(name: "n", size: 3)),
        .init(LateSuper(name: "n", size: 3)), .init(Silent()), .init(Partial(kept: 3)),
        .init(Either.number(4)),
        .init(Either.text("t")), .init([Either.text("t"), .number(1)]), .init(Swallowed()),
    ]
}

extension CodableShapes {
    /// Nested containers of both kinds, read back through nested containers.
    struct Nested: Codable, Equatable {
        enum Keys: String, CodingKey { case outer, list, last }
        enum Inner: String, CodingKey { case a, b }
        init() {}
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var inner = container.nestedContainer(keyedBy: Inner.self, forKey: .outer)
            try inner.encode(1, forKey: .a)
            try inner.encodeNil(forKey: .b)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode("x")
            var deeper = list.nestedContainer(keyedBy: Inner.self)
            try deeper.encode([2], forKey: .a)
            var deepest = list.nestedUnkeyedContainer()
            try deepest.encodeNil()
            try deepest.encode(3)
            try container.encode("end", forKey: .last)
        }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            let inner = try container.nestedContainer(keyedBy: Inner.self, forKey: .outer)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            let text = try list.decode(String.self)
            let deeper = try list.nestedContainer(keyedBy: Inner.self)
            var deepest = try list.nestedUnkeyedContainer()
            let isNil = try deepest.decodeNil()
            guard try inner.decode(Int.self, forKey: .a) == 1, try inner.decodeNil(forKey: .b),
                text == "x",
                try deeper.decode([Int].self, forKey: .a) == [2], isNil,
                try deepest.decode(Int.self) == 3,
                list.isAtEnd, try container.decode(String.self, forKey: .last) == "end"
            else { throw CodingError(.refused, expected: "what was written") }
        }
    }

    /// Two containers of one value used in turns, which no stream can follow.
    struct Interleaved: Codable, Equatable {
        var first = ["a": 1, "b": 2]
        var second = [3, 4]
        enum Keys: String, CodingKey { case first, second }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var map = container.nestedContainer(keyedBy: Member.self, forKey: .first)
            var list = container.nestedUnkeyedContainer(forKey: .second)
            try map.encode(1, forKey: .a)
            try list.encode(3)
            try map.encode(2, forKey: .b)
            try list.encode(4)
        }
        enum Member: String, CodingKey { case a, b }
    }

    class Base: Codable, Equatable {
        var name: String
        init(name: String) { self.name = name }
        static func == (left: Base, right: Base) -> Bool { left.name == right.name }
    }

    enum SizeKey: String, CodingKey { case size }

    /// A subclass whose members stand in the map of its superclass.
    final class Shared: Base {
        var size: Int
        init(name: String, size: Int) {
            self.size = size
            super.init(name: name)
        }
        required init(from decoder: any Decoder) throws {
            size = try decoder.container(keyedBy: SizeKey.self).decode(Int.self, forKey: .size)
            try super.init(from: decoder)
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: SizeKey.self)
            try container.encode(size, forKey: .size)
            try super.encode(to: encoder)
        }
    }

    /// A subclass that keeps its superclass under the key `super`.
    final class Apart: Base {
        var size: Int
        init(name: String, size: Int) {
            self.size = size
            super.init(name: name)
        }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: SizeKey.self)
            size = try container.decode(Int.self, forKey: .size)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: SizeKey.self)
            try super.encode(to: container.superEncoder())
            try container.encode(size, forKey: .size)
        }
    }

    /// A subclass that takes the super encoder early and uses it late.
    final class LateSuper: Base {
        var size: Int
        init(name: String, size: Int) {
            self.size = size
            super.init(name: name)
        }
        required init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            let parent = try container.superDecoder()
            size = try container.decode(Int.self)
            try super.init(from: parent)
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            let parent = container.superEncoder()
            try container.encode(size)
            try super.encode(to: parent)
        }
    }

    /// A super encoder that is never used: an empty map.
    struct Silent: Codable, Equatable {
        init() {}
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: SizeKey.self)
            _ = container.superEncoder()
            try container.encode(1, forKey: .size)
        }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: SizeKey.self)
            _ = try container.superDecoder().container(keyedBy: SizeKey.self)
            _ = try container.decode(Int.self, forKey: .size)
        }
    }

    /// A type that leaves most of what it wrote unread.
    struct Partial: Codable, Equatable {
        var kept: Int
        init(kept: Int) { self.kept = kept }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(kept)
            try container.encode(["x": [1, 2, 3]])
            try container.encode("the end")
        }
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            kept = try container.decode(Int.self)
            _ = try decoder.unkeyedContainer()
            _ = try? container.decode(Int.self)
        }
    }

    /// A type that tries one leaf after the other.
    enum Either: Codable, Equatable {
        case number(Int)
        case text(String)
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
    }

    /// A type that goes on after a member could not be written.
    struct Swallowed: Codable, Equatable {
        enum Keys: String, CodingKey { case a, bad, b }
        init() {}
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(1, forKey: .a)
            try? container.encode(["x": [1, Double.nan]], forKey: .bad)
            try container.encode(2, forKey: .b)
        }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            guard !container.contains(.bad), try container.decode(Int.self, forKey: .b) == 2 else {
                throw CodingError(.refused, expected: "two members")
            }
        }
    }
}
