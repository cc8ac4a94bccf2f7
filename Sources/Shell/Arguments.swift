import DeviceKit

/// A command line that makes no sense.
struct UsageError: Error {
    var message: String
}

/// The words of a command line, sorted: the verb, options, and the rest.
struct Arguments {
    var verb: String
    var words: [String] = []
    var isJSON = false
    var wantsHelp = false
    var name = Program.instance
    private var options: [String: String] = [:]
    private var flags: Set<String> = []

    /// Options that take a value, by verb.
    static let valued: [String: Set<String>] = [
        "up": ["--devices", "--data"], "kill": ["--signal"], "buffer": ["--at"],
        "call": ["--deadline", "--key"], "dispatch": ["--key"], "attach": [],
        "log": ["--lines", "--data"], "trace": ["--chrome"], "graph": ["--format"],
        "doctor": ["--devices", "--data"], "history": ["--limit"],
        "follow": ["--after"], "publish": ["--key"], "new": ["--package"],
    ]
    /// Options without a value, by verb.
    static let plain: [String: Set<String>] = [
        "up": ["--detach"], "buffer": ["--watch"], "restart": ["--swap"],
        "log": ["-f", "--follow"], "trace": ["-f", "--follow", "--payloads"],
    ]

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        guard let verb = rest.popFirst() else {
            throw UsageError(message: "say what to do; see `concentric --help`")
        }
        self.verb = verb
        var onlyWords = false
        while let word = rest.popFirst() {
            let isOption = word.hasPrefix("--") || Self.plain[verb]?.contains(word) == true
            guard isOption, !onlyWords else {
                words.append(word)
                continue
            }
            switch word {
            case "--": onlyWords = true
            case "--json": isJSON = true
            case "--help": wantsHelp = true
            case "--name":
                name = try Self.value(of: word, &rest)
                do throws(SocketError) {
                    try SocketPath.check(name: name)
                } catch {
                    throw UsageError(message: "\(error)")
                }
            default:
                if Self.valued[verb]?.contains(word) == true {
                    options[word] = try Self.value(of: word, &rest)
                } else if Self.plain[verb]?.contains(word) == true {
                    flags.insert(word)
                } else {
                    throw UsageError(
                        message: "\(verb) has no option \(word); see `concentric \(verb) --help`")
                }
            }
        }
    }

    private static func value(
        of option: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else {
            throw UsageError(message: "\(option) wants a value")
        }
        return value
    }

    func option(_ name: String) -> String? { options[name] }
    func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The words, whose number must lie in a range.
    func words(_ count: ClosedRange<Int>, _ usage: String) throws(UsageError) -> [String] {
        guard count.contains(words.count) else {
            throw UsageError(message: "usage: concentric \(verb) \(usage)")
        }
        guard !words.contains("") else {
            throw UsageError(
                message: "\(verb): a word is empty; usage: concentric \(verb) \(usage)")
        }
        return words
    }
}
