internal import Glibc

/// The rule that is switched off in this process, or nothing.
private let brokenRule = getenv("CONCENTRIC_BROKEN").map { String(cString: $0) } ?? ""

/// Whether a rule is switched off.
public func broken(_ rule: String) -> Bool { brokenRule == rule }
