import Values

/// A source of values that is the same in each run: SplitMix64.
struct RandomValues: RandomNumberGenerator {
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

    static let texts = [
        "", "a", "id", "$", "$map", "$text", "$bytes", "~", "/", "é", "e\u{301}", "日本", "\u{0}",
        "\"\\\n",
        "1b4e28ba-2fa1-11d2-883f-0016d3cca427", "1B4E28BA-2FA1-11D2-883F-0016D3CCA427",
        "2026-11-30T05:46:59.123Z", "2026-13-30T05:46:59.123Z", "null", "0", "-",
    ]

    mutating func leaf() -> Value {
        switch below(10) {
        case 0: .null
        case 1: .bool(below(2) == 0)
        case 2: .int(Int64(below(5)))
        case 3: .int(Int64(bitPattern: next()))
        case 4: .double(Double(below(5)))
        case 5: double(Double(bitPattern: next()))
        case 6: .bytes((0..<below(5)).map { UInt8($0 * 77 & 255) })
        case 7: .date(Int64.random(in: Value.dateRange, using: &self))
        case 8: .uuid(UUIDBytes(high: next(), low: next()))
        default: .text(Self.texts[below(Self.texts.count)])
        }
    }

    private func double(_ value: Double) -> Value {
        .double(value.isFinite ? value : 0.1)
    }

    mutating func value(depth: Int = 4) -> Value {
        switch depth == 0 ? 0 : below(4) {
        case 1:
            return .array((0..<below(6)).map { _ in value(depth: depth - 1) })
        case 2:
            return .map(members(depth: depth))
        case 3:
            return .array(
                (0..<below(6)).map { _ in
                    var row = members(depth: depth - 1)
                    row["id"] = .int(Int64(below(8)))
                    return .map(row)
                })
        default: return leaf()
        }
    }

    private mutating func members(depth: Int) -> [String: Value] {
        var members: [String: Value] = [:]
        for _ in 0..<below(4) {
            members[Self.texts[below(Self.texts.count)]] = value(depth: max(0, depth - 1))
        }
        return members
    }

    /// A value that is like another one, but for some places.
    mutating func changed(_ value: Value) -> Value {
        switch value {
        case .array(var items):
            for _ in 0..<below(3) {
                switch below(5) {
                case 0: items.insert(self.value(depth: 1), at: below(items.count + 1))
                case 1 where !items.isEmpty: items.remove(at: below(items.count))
                case 2 where !items.isEmpty:
                    let moved = items.remove(at: below(items.count))
                    items.insert(moved, at: below(items.count + 1))
                case 3: items.shuffle(using: &self)
                default:
                    if let index = items.indices.randomElement(using: &self) {
                        items[index] = changed(items[index])
                    }
                }
            }
            return .array(items)
        case .map(var members):
            for key in members.keys.sorted() where below(3) == 0 {
                members[key] = below(3) == 0 ? nil : members[key].map { changed($0) }
            }
            if below(3) == 0 { members[Self.texts[below(Self.texts.count)]] = leaf() }
            return .map(members)
        default: return below(2) == 0 ? self.value(depth: 2) : value
        }
    }
}
