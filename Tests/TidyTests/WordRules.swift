/// Words that the house forbids or asks a reason for.
enum WordRules {
    /// Rooms in which a peer's bytes are handled: nothing in them may trap or be taken on trust.
    static let strictRooms: Set<String> = ["Control", "Values", "Wire", "Kernel"]

    static let guarded: [[String]] = [
        ["fatalError", "("], ["try", "!"], ["as", "!"], ["@", "unchecked", "Sendable"],
        ["nonisolated", "(", "unsafe", ")"],
    ]

    /// Trust without proof: forbidden in the strict rooms, elsewhere only with its guard named.
    static func unguarded(in source: SwiftSource) -> [Violation] {
        let isStrict = source.path.hasPrefix("Sources/") && strictRooms.contains(source.module)
        return guarded.flatMap { words in
            source.positions(of: words).compactMap { position in
                let line = source.tokens[position].line
                if !isStrict, source.hasComment(at: line) { return nil }
                let word = words.joined()
                return Violation(
                    path: source.path, line: line, rule: "unguarded '\(word)'",
                    advice: isStrict
                        ? "\(source.module) may not hold it at all; throw, return or restructure"
                        : "say in a comment on this line or directly before what guards it")
            }
        }
    }

    private static let bannedModules = [
        "Dispatch": "the loop is the only executor; use its timers",
        "Foundation": "import FoundationEssentials for UUID and Date, else Glibc",
    ]

    private static let bannedCalls: [(words: [String], advice: String)] = [
        (["Task", ".", "sleep"], "it starts threads; wait on the loop's timer"),
        (
            ["UUID", "(", ")"],
            "where urandom cannot be opened it is always the same; draw from getrandom"
        ),
    ]

    /// What no process of ours may use; tests may.
    static func banned(in source: SwiftSource) -> [Violation] {
        if source.isTest { return [] }
        let imports = ImportRules.imports(in: source).compactMap { found in
            bannedModules[found.module].map {
                Violation(
                    path: source.path, line: found.line, rule: "banned 'import \(found.module)'",
                    advice: $0)
            }
        }
        let calls = bannedCalls.flatMap { call in
            source.positions(of: call.words).map {
                Violation(
                    path: source.path, line: source.tokens[$0].line,
                    rule: "banned '\(call.words.joined())'", advice: call.advice)
            }
        }
        return imports + calls + rootTasks(in: source)
    }

    /// A root task without the loop as its preference hops to another thread at each suspension.
    static func rootTasks(in source: SwiftSource) -> [Violation] {
        let notATask: Set<String> = [".", "extension", "struct", "class", "enum", "actor"]
        return source.positions(of: ["Task"]).compactMap { position in
            if notATask.contains(source.text(at: position - 1) ?? "") { return nil }
            var next = position + 1
            let isGeneric = source.text(at: next) == "<"
            if isGeneric { next = source.closing(next, "<", ">") + 1 }
            if source.text(at: next) == "." {
                let starts: Set<String> = ["detached", "immediate", "immediateDetached", "init"]
                guard starts.contains(source.text(at: next + 1) ?? "") else { return nil }
                next += 2
            } else if isGeneric, [":", ">"].contains(source.text(at: position - 1)) {
                return nil  // The type of a computed property or of a function.
            }
            switch source.text(at: next) {
            case "{": break
            case "(":
                let end = source.closing(next, "(", ")")
                let inside = source.tokens[next..<end]
                if inside.contains(where: { $0.text == "executorPreference" }) { return nil }
            default: return nil
            }
            return Violation(
                path: source.path, line: source.tokens[position].line,
                rule: "task without executorPreference",
                advice: "start it with Task(executorPreference: the loop), or it leaves the thread")
        }
    }

    /// Rooms whose result may depend on nothing but what they are given.
    static let pureRooms: Set<String> = ["Control", "Values", "Wire", "Kernel", "Presentation"]

    static let impure: [[String]] = [
        ["Date", "(", ")"], ["Date", ".", "now"], ["ContinuousClock"], ["SuspendingClock"],
        ["SystemRandomNumberGenerator"], [".", "random", "("], [".", "randomElement", "("],
        [".", "shuffled", "("], ["Task"],
    ]

    /// A deterministic machine reads no clock, draws no number and starts no task.
    static func impurities(in source: SwiftSource) -> [Violation] {
        guard source.path.hasPrefix("Sources/"), pureRooms.contains(source.module) else {
            return []
        }
        return impure.flatMap { words in
            source.positions(of: words).map {
                Violation(
                    path: source.path, line: source.tokens[$0].line,
                    rule: "impure '\(words.joined())'",
                    advice: "\(source.module) is a function of its input: take the value as an "
                        + "argument")
            }
        }
    }

    static let marks = ["TODO", "FIXME", "XXX", "HACK"]

    /// Work left for later stands in an issue, not in the tree.
    static func marks(path: String, comments: [Int: String]) -> [Violation] {
        comments.sorted { $0.key < $1.key }.compactMap { line, comment in
            let words = comment.split { !$0.isLetter && !$0.isNumber }
            guard let mark = marks.first(where: { words.contains(Substring($0)) }) else {
                return nil
            }
            return Violation(
                path: path, line: line, rule: "'\(mark)'", advice: "do it now or file an issue")
        }
    }
}
