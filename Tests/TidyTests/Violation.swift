import Testing

/// One place where the tree breaks a rule of the house.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    /// 0 where the whole file is meant.
    let line: Int
    let rule: String
    let advice: String

    var description: String { "\(path):\(line): \(rule): \(advice)" }
}

/// Violations as one text, a line each.
func report(_ violations: [Violation]) -> String {
    violations.map { "\n" + $0.description }.joined()
}

/// Fails the running test with all violations, each on a line of its own.
func expectNone(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
    if violations.isEmpty { return }
    Issue.record("\(violations.count) found:\(report(violations))", sourceLocation: sourceLocation)
}
