import DeviceKit
import Testing

@testable import Shell

/// The command line of the shell.
@Suite struct ArgumentsTests {
    static let right: [(words: String, shown: String)] = [
        ("ps", "ps []"), ("ps --json", "ps [] json"), ("ps --help", "ps [] help"),
        ("kill compute --signal TERM", "kill [compute] --signal=TERM"),
        ("kill --signal TERM compute", "kill [compute] --signal=TERM"),
        ("call A.b {} --deadline 5 --key k", "call [A.b,{}] --deadline=5 --key=k"),
        ("call -- --odd", "call [--odd]"), ("call A.b -1", "call [A.b,-1]"),
        ("up --devices d --data e --detach", "up [] --data=e --devices=d --detach"),
        ("buffer R --watch --json", "buffer [R] json --watch"),
        ("restart d --swap", "restart [d] --swap"),
        ("log -f --lines 3 compute", "log [compute] --lines=3 -f"),
        ("log --follow", "log [] --follow"),
        ("call A.b -f", "call [A.b,-f]"), ("doctor --json --data d", "doctor [] json --data=d"),
        ("nonsense", "nonsense []"),
    ]

    @Test(arguments: 0..<right.count)
    func `words are sorted into verb, options and the rest`(_ index: Int) throws {
        let (words, shown) = Self.right[index]
        let arguments = try Arguments(words.split(separator: " ").map(String.init))
        var text = "\(arguments.verb) [\(arguments.words.joined(separator: ","))]"
        if arguments.isJSON { text += " json" }
        if arguments.wantsHelp { text += " help" }
        for name in ["--data", "--deadline", "--devices", "--key", "--lines", "--signal", "--at"] {
            if let value = arguments.option(name) { text += " \(name)=\(value)" }
        }
        for flag in ["--detach", "--watch", "--swap", "-f", "--follow"] where arguments.has(flag) {
            text += " \(flag)"
        }
        #expect(text == shown)
    }

    @Test func `the instance is the option's`() throws {
        #expect(try Arguments(["ps", "--name", "other"]).name == "other")
        #expect(try Arguments(["ps"]).name == Program.instance)
    }

    static let wrong: [(words: String, named: String)] = [
        ("", "say what to do"), ("ps --jsn", "ps has no option --jsn"),
        ("ps --watch", "ps has no option --watch"), ("buffer --detach", "no option --detach"),
        ("kill compute --signal", "--signal wants a value"), ("ps --name", "--name wants a value"),
    ]

    @Test(arguments: 0..<wrong.count)
    func `an option that makes no sense is named`(_ index: Int) {
        let (words, named) = Self.wrong[index]
        let error = #expect(throws: UsageError.self) {
            try Arguments(words.split(separator: " ").map(String.init))
        }
        #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
    }

    @Test func `an empty word is no name`() throws {
        let arguments = try Arguments(["call", ""])
        let error = #expect(throws: UsageError.self) { try arguments.words(1...2, "SYMBOL") }
        #expect(error?.message.hasPrefix("call: a word is empty; usage:") == true)
    }

    @Test func `too few and too many words are answered with the usage`() throws {
        let arguments = try Arguments(["kill", "a", "b"])
        #expect(try arguments.words(1...2, "DEVICE") == ["a", "b"])
        for range in [0...1, 3...4] {
            let error = #expect(throws: UsageError.self) { try arguments.words(range, "DEVICE") }
            #expect(error?.message == "usage: concentric kill DEVICE")
        }
    }
}
