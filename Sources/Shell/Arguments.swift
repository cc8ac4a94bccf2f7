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

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        guard let verb = rest.popFirst() else {
            throw UsageError(message: "say what to do; see `concentric --help`")
        }
        guard !verb.hasPrefix("-") else {
            throw UsageError(
                message: "the verb comes first: concentric VERB \(verb) …; see `concentric --help`")
        }
        guard Help.verbs.contains(verb) else {
            throw UsageError(message: "there is no verb \(verb); see `concentric --help`")
        }
        self.verb = verb
        var onlyWords = false
        while let word = rest.popFirst() {
            guard !onlyWords, Self.isOption(word, of: verb) else {
                words.append(word)
                continue
            }
            if word == "--" { onlyWords = true } else { try take(word, &rest) }
        }
    }

    /// Whether it is one, or meant as one: a word of one dash is none where JSON may stand, for
    /// that of a number begins with one.
    private static func isOption(_ word: String, of verb: String) -> Bool {
        if word.hasPrefix("--") || Help.option(word, of: verb) != nil { return true }
        return word.count > 1 && word.first == "-" && !Help.takesJSON(verb)
    }

    private mutating func take(
        _ word: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = Help.option(name, of: verb) else {
            throw UsageError(
                message: "\(verb) has no option \(name); see `concentric \(verb) --help`")
        }
        guard option.takesValue else {
            guard parts.count == 1 else {
                throw UsageError(message: "\(verb): \(name) takes no value; say \(name) alone")
            }
            switch name {
            case "--json": isJSON = true
            case "--help": wantsHelp = true
            default: flags.insert(name)
            }
            return
        }
        // An option behind it is none of its values, unless it is said with an equals sign.
        let next = parts.count == 1 && rest.first?.hasPrefix("--") != true ? rest.popFirst() : nil
        let value = parts.count == 2 ? String(parts[1]) : next ?? ""
        guard !value.isEmpty else {
            throw UsageError(message: "\(verb): \(name) wants a value: \(option.text)")
        }
        guard name == "--name" else {
            options[name] = value
            return
        }
        self.name = value
        do throws(SocketError) {
            try SocketPath.check(name: value)
        } catch {
            throw UsageError(message: "\(verb): \(error)")
        }
    }

    func option(_ name: String) -> String? { options[name] }
    func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// Compares the words with those that the usage of the verb names.
    func checkWords() throws(UsageError) {
        guard let places = Help.places(of: verb) else { return }
        let usage = "usage: concentric \(Help.call(verb))"
        if let empty = words.firstIndex(of: "") {
            let what = empty < places.count ? places[empty].name : "a word"
            throw UsageError(message: "\(what) is empty; \(usage)")
        }
        if words.count < places.count, places[words.count].isNeeded {
            throw UsageError(message: "\(places[words.count].name) is missing; \(usage)")
        }
        guard words.count <= places.count else {
            throw UsageError(message: "“\(words[places.count])” is one word too many; \(usage)")
        }
    }
}
