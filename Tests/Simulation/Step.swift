import Control
import Values

/// A handler as data, so that the simulation decides when each of its tasks goes on: what it does
/// next, and what follows from the answer.
indirect enum Step {
    /// The task ends with a value; of a handler's first task that is its output.
    case done(Value)
    /// The flow ends with this value.
    case abort(Value)
    case fail(Failure)
    /// The flow goes on along the route of a symbol, with a value.
    case divert(String, Value)
    /// Asks for something; the answer decides what follows.
    case ask(Question, (Result<Value, Failure>) -> Step)
    /// Starts tasks, in this order or in that of a hashed set, and waits for all.
    case together([Step], hashed: Bool, ([Value]) -> Step)
}

struct Failure: Error, Equatable {
    var code: String
}

/// The name of an effect, and whose it is.
struct Mark: Hashable {
    var who: Value
    var name: String
    var value: Value
}

enum Question {
    case call(String, Value)
    /// A command for a lane.
    case dispatch(String, Value)
    /// A pipe that is built in the handler, with the names of its closures.
    case run([StageDescriptor], closures: [String], Value)
    /// The closure gives the new values and its result.
    case commit([String], ([Value]) -> ([Value], Value), Mark)
    case read(String)
    /// An event, whose publishing is an effect.
    case publish(Mark)
    case now
    case random
    /// What no record can see.
    case wild
    /// A row and its invocation, in one transaction of the store.
    case transaction(Mark)
    /// An effect that nobody recognises when it is repeated.
    case outside(Mark)
    /// The process ends by its own hand, for the first `times` visits of this payload.
    case trap(Value, times: Int64)
}

extension Step {
    /// Asks, and passes an error on.
    static func asking(_ question: Question, then next: @escaping (Value) -> Step) -> Step {
        .ask(question) { answer in
            switch answer {
            case .success(let value): next(value)
            case .failure(let failure): .fail(failure)
            }
        }
    }

    /// A task that asks one thing.
    static func only(_ question: Question) -> Step {
        .asking(question) { .done($0) }
    }
}

/// A task of a handler.
final class SimTask {
    var next: ((Result<Value, Failure>) -> Step)?
    let parent: SimTask?
    let index: Int
    /// Of the tasks that it waits for.
    var children: [SimTask] = []
    var results: [Value] = []
    var waits = 0
    var join: (([Value]) -> Step)?
    var isDead = false

    init(_ first: Step, parent: SimTask? = nil, index: Int = 0) {
        next = { _ in first }
        self.parent = parent
        self.index = index
    }
}

/// SplitMix64: the only source of chance.
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension Value {
    /// As the payloads of the simulation travel.
    var encoded: [UInt8] { Array(json().utf8) }

    init(encoded: [UInt8]) {
        self = (try? Value.parse(json: String(decoding: encoded, as: UTF8.self))) ?? .null
    }
}
