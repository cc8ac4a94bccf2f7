import FoundationEssentials
import Values

/// A source of bits that is the same in each run: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ end: Int) -> Int {
        Int.random(in: 0..<end, using: &self)
    }

    mutating func value(depth: Int = 4) -> Value {
        switch below(depth == 0 ? 9 : 12) {
        case 0: .null
        case 1: .bool(below(2) == 0)
        case 2: .int(Int64(below(60)) - 30)
        case 3: .int(Int64(bitPattern: next()) >> Int64(below(64)))
        case 4: .double(Double(below(1000)) / 8)
        case 5: .text(String(repeating: "é", count: below(40)))
        case 6: .bytes((0..<below(40)).map { UInt8($0) })
        case 7: .date(Int64.random(in: Value.dateRange, using: &self))
        case 8: .uuid(UUIDBytes(high: next(), low: next()))
        case 9, 10: .array((0..<below(30)).map { _ in value(depth: depth - 1) })
        default:
            .map(
                Dictionary(
                    (0..<below(30)).map { ("key \($0)", value(depth: depth - 1)) },
                    uniquingKeysWith: { $1 }))
        }
    }
}

/// The bytes that a text of hexadecimal digits says.
func hex(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var digits = text.utf8.makeIterator()
    while let high = digits.next(), let low = digits.next() {
        bytes.append(UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16) ?? 0)
    }
    return bytes
}
