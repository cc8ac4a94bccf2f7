internal import Values

extension Patch {
    /// The operations on what stands at a pointer, as those on an array of it.
    ///
    /// - Parameter value: the whole before this patch.
    /// - Returns: nil where the change of the part can only be told by comparing: the part comes,
    ///   goes or is moved as a whole, or the indexes on the way to it shift.
    func rebased(to pointer: Pointer, in value: Value) -> Patch? {
        let scope = Scope(pointer, in: value)
        var rebased: [Operation] = []
        for operation in operations {
            switch operation {
            case .test: break
            case .replace(let path, let new):
                switch scope.reach(path, isReplaced: true) {
                case .inside(let path): rebased.append(.replace(path, new))
                case .outside: break
                case .unknown: return nil
                }
            case .add(let path, let new):
                switch scope.reach(path) {
                case .inside(let path): rebased.append(.add(path, new))
                case .outside: break
                case .unknown: return nil
                }
            case .remove(let path):
                switch scope.reach(path) {
                case .inside(let path): rebased.append(.remove(path))
                case .outside: break
                case .unknown: return nil
                }
            case .move(let from, let path):
                switch (scope.reach(from), scope.reach(path)) {
                case (.inside(let from), .inside(let path)):
                    rebased.append(.move(from: from, to: path))
                case (.outside, .outside): break
                default: return nil
                }
            case .copy(let from, let path):
                switch (scope.reach(from), scope.reach(path)) {
                case (.inside(let from), .inside(let path)):
                    rebased.append(.copy(from: from, to: path))
                case (_, .outside): break
                default: return nil
                }
            }
        }
        return Patch(rebased)
    }
}

/// The way to a part, as it was before a patch.
private struct Scope {
    /// What the path of an operation is to the part.
    enum Reach {
        case inside(Pointer)
        case outside
        case unknown
    }

    private let tokens: [String]
    /// For each step on the way, whether it goes into an array; shorter where the way ends.
    private var arrays: [Bool] = []

    init(_ pointer: Pointer, in value: Value) {
        tokens = pointer.tokens
        var here: Value? = value
        for token in tokens {
            guard let place = here else { break }
            arrays.append(place.array != nil)
            here = Pointer([token]).resolve(in: place)
        }
    }

    /// - Parameter isReplaced: the operation puts a value in the place of another and shifts
    ///   nothing.
    func reach(_ path: Pointer, isReplaced: Bool = false) -> Reach {
        let shared = zip(path.tokens, tokens).prefix { $0.0 == $0.1 }.count
        if shared == tokens.count {
            let rest = path.tokens[shared...]
            if rest.isEmpty && !isReplaced { return .unknown }
            return .inside(Pointer(["0"] + rest))
        }
        guard shared < path.tokens.count, shared < arrays.count else { return .unknown }
        let isElement = arrays[shared] && shared + 1 == path.tokens.count
        return isElement && !isReplaced ? .unknown : .outside
    }
}
