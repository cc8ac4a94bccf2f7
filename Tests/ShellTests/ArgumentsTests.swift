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
        ("kill compute --signal=TERM", "kill [compute] --signal=TERM"),
        ("call A.b --key=--odd", "call [A.b] --key=--odd"),
        ("call A.b --key=a=b", "call [A.b] --key=a=b"),
        ("publish C -1.5e3", "publish [C,-1.5e3]"), ("kill -- -x", "kill [-x]"),
        ("new device x", "new [device,x]"),
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
        ("nonsense", "there is no verb nonsense; see `concentric --help`"),
        ("nonsense --odd", "there is no verb nonsense"),
        ("--name x ps", "the verb comes first: concentric VERB --name …"),
        ("ps -x", "ps has no option -x; see `concentric ps --help`"),
        ("call A.b --deadlin=5", "call has no option --deadlin;"),
        ("ps --json=yes", "ps: --json takes no value"), ("attach --json", "no option --json"),
        ("kill compute --signal=", "kill: --signal wants a value: its name, such as TERM"),
        ("kill compute --signal --json", "kill: --signal wants a value"),
        ("ps --name a/b", "ps: "),
        ("ps --watch", "ps has no option --watch"), ("buffer --detach", "no option --detach"),
        ("kill -9 compute", "kill has no option -9"),
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

    static let words: [(words: [String], said: String?)] = [
        (["kill", "a"], nil), (["call", "A.b"], nil), (["call", "A.b", "{}"], nil), (["ps"], nil),
        (["log"], nil), (["log", "a"], nil), (["new", "device", "b"], nil),
        (["new", "device"], "NAME is missing; usage: concentric new device NAME"),
        (["kill"], "DEVICE is missing; usage: concentric kill DEVICE [--signal S] [--json]"),
        (["call", "--json"], "SYMBOL is missing; usage: concentric call SYMBOL [JSON]"),
        (["kill", "a", "b"], "“b” is one word too many; usage: concentric kill DEVICE"),
        (["down", "now"], "“now” is one word too many; usage: concentric down [--json]"),
        (["attach", "now"], "“now” is one word too many; usage: concentric attach"),
        (["call", ""], "SYMBOL is empty; usage: concentric call"),
        (["call", "A.b", ""], "JSON is empty; usage: concentric call"),
        (["ps", ""], "a word is empty; usage: concentric ps"),
    ]

    @Test(arguments: 0..<words.count)
    func `words that are missing or too many are named`(_ index: Int) throws {
        let (words, said) = Self.words[index]
        let arguments = try Arguments(words)
        var message: String?
        do {
            try arguments.checkWords()
        } catch {
            message = error.message
        }
        #expect(message?.hasPrefix(said ?? "?") ?? (said == nil), "\(message ?? "")")
        #expect(message?.hasSuffix(" ") != true)
    }

    /// Both ways: what `--help` says is accepted, and what is accepted it says.
    @Test(arguments: Help.entries.map(\.verb))
    func `the options of a verb are those of its help`(_ verb: String) throws {
        let entry = try #require(Help.entries.first { $0.verb == verb })
        let help = try #require(Help.of(verb))
        let all = Set(Help.words.values.joined().flatMap(\.options)).union(["--name", "--help"])
        #expect(all.count > 12)
        let told = Set(
            (help.split { " ,[]|\n".contains($0) } + ["--name", "--help"]).filter {
                $0.hasPrefix("-") && all.contains($0)
            })
        let inUsage = Set(
            entry.usage.split { " []|".contains($0) }.filter { $0.hasPrefix("-") })
        #expect(inUsage.union(["--name", "--help"]) == told, "the usage line and the lines below")
        for option in all {
            let alone = try? Arguments([verb, String(option)])
            let valued = try? Arguments([verb, String(option), "value"])
            // What is an option of another verb may be a word where any word may be one.
            let isOption = [alone, valued].contains {
                $0.map { !$0.words.contains(String(option)) } ?? false
            }
            #expect(isOption == told.contains(option), "\(verb) \(option)")
            if isOption, alone == nil {
                #expect(valued?.words == [], "\(verb) \(option) takes a value")
            }
        }
    }

    @Test func `usage lines end where they end`() {
        for entry in Help.entries {
            let help = Help.of(entry.verb) ?? ""
            let lines = (help + "\n" + Help.all).split(separator: "\n")
            #expect(lines.allSatisfy { $0.last?.isWhitespace == false }, "\(entry.verb)")
        }
    }
}
