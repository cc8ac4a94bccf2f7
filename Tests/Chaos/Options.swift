import Glibc

/// What a run is made of.
struct Options {
    /// Commands of one client that are under way at a time.
    static let depth = 3

    var commands = 2_000
    /// Signals that end a process; stops, restarts and swaps come on top of them.
    var kills = 500
    var clients = 4
    /// The same seed makes the same choices; the moments are those of the machine.
    var seed: UInt64

    /// Seconds after which the run is given up.
    var limit: Double { 90 + Double(commands) * 0.1 + Double(kills) * 0.3 }

    init(_ words: [String]) throws(Failure) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        seed = UInt64(time.tv_nsec / 1_000)
        var rest = words[...]
        while let word = rest.popFirst() {
            guard let value = rest.popFirst(), let number = UInt64(value), number < 1 << 32 else {
                throw Failure("\(word) wants a number")
            }
            switch word {
            case "--commands": commands = Int(number)
            case "--kills": kills = Int(number)
            case "--clients": clients = Int(number)
            case "--seed": seed = number
            default: throw Failure("unknown argument '\(word)'; see Scripts/chaos --help")
            }
        }
        guard commands > 0, (1...64).contains(clients) else {
            throw Failure("at least one command, and 1 to 64 clients")
        }
    }
}

/// SplitMix64: a seed is a sequence.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Whether something happens that does so in so many of a thousand times.
    mutating func chance(_ thousandths: Int) -> Bool {
        Int.random(in: 0..<1_000, using: &self) < thousandths
    }

    /// One of several, the more often the heavier it is.
    mutating func pick<T>(_ weighted: [(Int, T)]) -> T {
        var left = Int.random(in: 0..<weighted.reduce(0) { $0 + $1.0 }, using: &self)
        for (weight, item) in weighted {
            left -= weight
            if left < 0 { return item }
        }
        return weighted[weighted.count - 1].1
    }
}
