/// What is announced of one stage of a route: plain data.
public struct StageDescriptor: Sendable, Hashable {
    /// How a stage treats the value.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The output of the symbol is the next value.
        case pipe
        /// The symbol is called and the value stays.
        case tap
        /// A closure of the device that bound the pipe; its output is the next value.
        case closure
        /// A closure whose value stays.
        case effect
        /// The kernel joins the request that entered the pipe with the value.
        case withRequest
        /// The value goes into every branch at once; what they give, in their order, is the next
        /// value.
        case fork
    }

    /// How the stage treats the value.
    public var kind: Kind
    /// The symbol; nil for closures, whose name follows from the pipe's, and for `withRequest`.
    public var symbol: String?
    /// What the closures of this visit are, for people: `map`, `adapt`, `verb`, `effect`.
    public var notes: [String]
    /// The shape of what leaves the stage.
    public var shape: String
    /// Where the stage was written.
    public var file: String
    /// The line of it.
    public var line: UInt
    /// The routes of a fork; empty for every other stage.
    public var branches: [RouteDescriptor] = []
    /// The symbols to which a closure says that it may divert.
    public var diverts: [String] = []

    /// A descriptor of its parts.
    public init(
        kind: Kind, symbol: String?, notes: [String], shape: String, file: String, line: UInt,
        branches: [RouteDescriptor] = [], diverts: [String] = []
    ) {
        self.kind = kind
        self.symbol = symbol
        self.notes = notes
        self.shape = shape
        self.file = file
        self.line = line
        self.branches = branches
        self.diverts = diverts
    }
}

/// What is announced of a whole route: plain data.
public struct RouteDescriptor: Sendable, Hashable {
    /// The stages in their order.
    public var stages: [StageDescriptor]
    /// Whether a closure runs at every end of it.
    public var last: Bool
    /// The shape of what it gives.
    public var gives: String

    /// A descriptor of its parts.
    public init(stages: [StageDescriptor], last: Bool, gives: String = "") {
        self.stages = stages
        self.last = last
        self.gives = gives
    }

    /// The names of its closures when the route is bound under `owner`, in the order in which both
    /// ends count them: stage by stage, a fork's branches in turn, then `finally`.
    ///
    /// A closure is named by its place: `Owner#2` is the third stage, `Owner#2.1#0` the first of
    /// the second branch of a fork.
    public func closures(of owner: String) -> [String] {
        var names: [String] = []
        for (index, stage) in stages.enumerated() {
            switch stage.kind {
            case .closure, .effect: names.append("\(owner)#\(index)")
            case .fork:
                for (number, branch) in stage.branches.enumerated() {
                    names += branch.closures(of: "\(owner)#\(index).\(number)")
                }
            case .pipe, .tap, .withRequest: break
            }
        }
        return last ? names + ["\(owner)#finally"] : names
    }

    /// What two routes have in common if they are the same: kinds, symbols and shapes.
    public var signature: String {
        let words = stages.map { stage in
            let inner = stage.branches.map(\.signature).joined(separator: ",")
            return "\(stage.kind.rawValue) \(stage.symbol ?? "") \(stage.shape) (\(inner))"
        }
        return words.joined(separator: "|") + (last ? "|finally" : "")
    }

    /// Whether both describe the same route: kinds, symbols and shapes are compared, notes and
    /// lines are not.
    public func isSame(as other: RouteDescriptor) -> Bool { signature == other.signature }
}

/// The code of a closure stage: bytes in, a verb out.
public typealias StageBody =
    @Sendable (any Handle, [UInt8], any Coding) async throws -> EncodedVerb

/// One stage of a pipe: what is announced, and the code if this device runs it.
public struct Stage: Sendable {
    /// What is announced.
    public var descriptor: StageDescriptor
    /// The code of a closure stage.
    public var body: StageBody?
    /// The branches of a fork.
    public var branches: [SealedRoute] = []
}

/// A route with the code of its closures, whatever its types.
public struct SealedRoute: Sendable {
    /// The stages; adjacent closures are one.
    public let stages: [Stage]
    /// The stage that runs at every end of a flow, failure and cancellation included.
    public let last: Stage?
    /// The shape of what it gives; empty: whatever it is.
    public var gives: String

    /// What is announced of it.
    public var descriptor: RouteDescriptor {
        RouteDescriptor(stages: stages.map(\.descriptor), last: last != nil, gives: gives)
    }

    /// The code of its closures, in the order of `RouteDescriptor.closures(of:)`.
    public var bodies: [StageBody] {
        let inner = stages.flatMap { stage in
            stage.body.map { [$0] } ?? stage.branches.flatMap(\.bodies)
        }
        return inner + (last?.body.map { [$0] } ?? [])
    }
}

/// A sealed pipe: a route with typed ends.
public struct Pipe<Request, Output>: Sendable {
    /// The stages; adjacent closures are one.
    public let stages: [Stage]
    /// The stage that runs at every end of a flow, failure and cancellation included.
    public let last: Stage?
    /// How the request travels.
    public let request: Coder<Request>
    /// How the output travels.
    public let output: Coder<Output>

    /// The route without its types.
    public var route: SealedRoute { SealedRoute(stages: stages, last: last, gives: output.shape) }
}
