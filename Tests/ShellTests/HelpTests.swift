import Control
import DeviceKit
import Testing

@testable import Shell

/// What the shell says of itself and of what it cannot do, and with which code it ends.
@Suite struct HelpTests {
    @Test func `every verb has help, and is named once`() {
        let served = Help.entries.map(\.verb)
        #expect(served.count == 23)
        #expect(Set(served).count == served.count)
        for verb in served {
            #expect(Help.of(verb)?.hasPrefix("usage: concentric \(verb)") == true)
            #expect(Help.all.contains("  \(verb) "))
        }
        #expect(Help.of("mend") == nil)
        #expect(Help.all.split(separator: "\n").allSatisfy { $0.count <= 160 })
    }

    @Test func `the help of a verb explains every word of its usage`() throws {
        for entry in Help.entries {
            let words = Help.words[entry.verb] ?? []
            let placeholders = entry.usage.split { !$0.isUppercase }.filter { $0.count > 2 }
            let text = words.map(\.form).joined(separator: " ")
            for word in placeholders { #expect(text.contains(word), "\(entry.verb) \(word)") }
            let help = try #require(Help.of(entry.verb))
            for line in Help.explained(entry.verb) {
                #expect(help.contains(line) && line.count <= 100, "\(line)")
            }
        }
        #expect(Help.words.keys.filter { verb in !Help.entries.contains { $0.verb == verb } } == [])
    }

    @Test(
        arguments: [
            ("11", nil, 11), ("#11", nil, 11), ("7-11", 7, 11), ("0", nil, 0),
        ] as [(String, UInt64?, UInt64)])
    func `a flow is named by its number, with or without its epoch`(
        _ word: String, _ epoch: UInt64?, _ number: UInt64
    ) {
        #expect(FlowName(word)?.epoch == epoch && FlowName(word)?.number == number)
    }

    @Test(arguments: ["", "#", "-", "7-", "-11", "7-#11", "#7-11", "x", "7-11-3", "1.5"])
    func `what names no flow is told before the kernel is asked`(_ word: String) {
        #expect(FlowName(word) == nil)
    }

    @Test func `a text without quotes is told how to get them`() {
        func said(_ word: String) -> String? {
            do {
                _ = try Verbs.payload(["S", word])
                return nil
            } catch {
                return error.message
            }
        }
        #expect(said("the quick")?.hasSuffix(#": '"the quick"'"#) == true)
        #expect(said(#"{"a":}"#)?.contains("quotes") == false)
        #expect(said("12") == nil && said(#""the quick""#) == nil)
    }

    static let codes: [(code: KernelError.Code, retry: Bool, exit: Int32)] = [
        (.unavailable, true, 69), (.kernelLost, false, 69), (.unbound, false, 69),
        (.unsupported, false, 69), (.malformed, false, 65), (.tooLarge, false, 65),
        (.denied, false, 77), (.deadline, true, 75), (.attempt, true, 75), (.overloaded, true, 75),
        (.conflict, true, 75), (.failed, false, 70), (.deviceLost, false, 70),
        (.poisoned, false, 70), (.diverged, false, 70), (.cancelled, false, 70),
        (.recordFull, false, 70), (.finallyLost, false, 70),
        (.composeTypeMismatch, false, 70), (.previewing, true, 75), (.gap, false, 70),
        (.init(rawValue: "notFound"), false, 70), (.init(rawValue: "busy"), true, 75),
    ]

    @Test(arguments: 0..<codes.count)
    func `an error ends with the exit code of its kind`(_ index: Int) {
        let (code, retry, exit) = Self.codes[index]
        #expect(Output.code(of: KernelError(code, "", retry: retry)) == exit)
    }

    @Test func `every code of the kernel has an exit code in the table`() {
        let known = Set(Self.codes.map(\.code))
        #expect(KernelError.Code.kernel.filter { !known.contains($0) } == [])
    }
}
