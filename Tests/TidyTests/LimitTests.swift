import Testing

@Suite struct LimitTests {
    private let code = """
        package struct HubLimits: Sendable {
            package var bytes = 64 << 20
            package var deadline: UInt64 = 10_000_000_000
            package var calls = 1_024
        }
        package enum PolicyNumbers {
            package static let short = Rate(count: 5, span: 60)
            package static let backoff: [Double] = [0, 1.5]
            package static let names: Set<String> = ["A"]
            static let made = { 5 }
        }
        """

    private var constants: [String: LimitRules.Constant] {
        LimitRules.constants(in: code.split(separator: "\n"))
    }

    @Test func `a constant is read with its numbers`() {
        #expect(
            constants.mapValues(\.numbers) == [
                "HubLimits.bytes": [67_108_864], "HubLimits.deadline": [10_000_000_000],
                "HubLimits.calls": [1_024], "PolicyNumbers.short": [5, 60],
                "PolicyNumbers.backoff": [0, 1.5],
            ])
        #expect(constants["HubLimits.deadline"]?.isNanoseconds == true)
    }

    @Test func `a limit that the README tells wrongly or not at all is found`() {
        let right = """
            ## Limits
            | what | limit | constant |
            |---|---|---|
            | bytes | 64 MiB | `HubLimits.bytes` |
            | time | 10 s | `HubLimits.deadline` |
            | calls | 1,024 | `HubLimits.calls` |
            | deaths | 5 in 60 s | `PolicyNumbers.short` |
            """
        #expect(LimitRules.rows(of: right).count == 4)
        #expect(LimitRules.wrong(in: right, constants).isEmpty)
        let wrong = """
            ## Limits
            | bytes | 64 KiB | `HubLimits.bytes` |
            | time | 10 ms | `HubLimits.deadline` |
            | gone | 1 | `HubLimits.gone` |
            """
        let found = LimitRules.wrong(in: wrong, constants)
        #expect(found.map(\.line) == [2, 3, 4, 0])
        #expect(found.last?.rule == "limit HubLimits.calls")
    }

    @Test func `the limits of the README are those of the code`() throws {
        let text = try #require(Repository.text(of: "README.md"))
        var constants: [String: LimitRules.Constant] = [:]
        for source in Repository.sources where !source.isTest {
            constants.merge(LimitRules.constants(in: source.lines)) { first, _ in first }
        }
        #expect(LimitRules.rows(of: text).count >= 30)
        for name in LimitRules.whole {
            #expect(constants.keys.contains { $0.hasPrefix(name + ".") }, "\(name) is gone")
        }
        expectNone(LimitRules.wrong(in: text, constants))
    }
}
