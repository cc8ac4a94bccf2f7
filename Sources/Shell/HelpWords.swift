extension Help {
    /// A word of a verb's usage, as it is written there, and what it means.
    struct Word {
        var form: String
        var text: String

        /// `-f` and `--follow` of `-f, --follow`; nothing where a word stands for itself.
        var options: [Substring] {
            form.split(separator: ",").map { part in
                part.drop { $0 == " " }.prefix { $0 != " " }
            }.filter { $0.hasPrefix("-") }
        }

        /// Whether a value follows the option.
        var takesValue: Bool { form.last?.isUppercase == true }
    }

    /// A word of a verb that is no option.
    struct Place: Equatable {
        var name: String
        var isNeeded: Bool
    }

    private static let device = Word(
        form: "DEVICE", text: "a device, or one of several processes of it, such as compute/2")
    private static let symbol = Word(
        form: "SYMBOL", text: "what is called; `concentric symbols` lists all")
    private static let channel = Word(
        form: "CHANNEL", text: "its name; `concentric buffer Kernel.Channels` lists all")
    private static let payload = Word(
        form: "JSON", text: #"the payload, null if it is missing; a text is '"text"'"#)
    private static let key = Word(
        form: "--key KEY", text: "your own key: a repeat with the same key has its effects once")
    private static let devices = Word(
        form: "--devices DIR", text: "the folder with the folders of the manifests (device.json)")
    private static let data = Word(
        form: "--data DIR", text: "where the instance keeps its data and its logs")
    private static let json = Word(
        form: "--json", text: "for programs: one JSON value, or one a line")
    private static let help = Word(form: "--help", text: "what is said here")
    private static let name = Word(
        form: "--name INSTANCE", text: "which kernel is meant: $CONCENTRIC_NAME, or main")
    private static let follow = Word(
        form: "-f, --follow", text: "go on with what comes, until Ctrl-C")

    /// The words of each verb that has some of its own. An option that does not stand here is not
    /// accepted.
    static let words: [String: [Word]] = [
        "up": [
            devices, data,
            Word(form: "--detach", text: "return once every device is ready; the kernel goes on"),
            Word(form: "--json", text: "with --detach: print {pid, socket}"),
        ],
        "down": [json],
        "ps": [json],
        "kill": [
            device, Word(form: "--signal S", text: "its name, such as TERM, or its number"), json,
        ],
        "restart": [
            device,
            Word(
                form: "--swap",
                text: "start the new process first; the old one finishes what it has begun"),
            json,
        ],
        "stop": [device, json],
        "start": [device, json],
        "call": [
            symbol, payload,
            Word(form: "--deadline MS", text: "milliseconds after which the call has failed"), key,
            json,
        ],
        "dispatch": [symbol, payload, key, json],
        "buffer": [
            Word(form: "REGION", text: "its name, and with #/a/0 behind it only what stands there"),
            Word(form: "--watch", text: "print every change as a patch, until Ctrl-C"),
            Word(
                form: "--at REV", text: "as it was at a revision: EPOCH-COUNTER, or COUNTER alone"),
            json,
        ],
        "history": [
            Word(form: "REGION", text: "its name"),
            Word(form: "--limit N", text: "only the last N changes"), json,
        ],
        "follow": [
            channel,
            Word(form: "--after N", text: "begin after event N; 0 begins with all that is kept"),
            json,
        ],
        "publish": [
            channel, Word(form: "JSON", text: #"the event; a text is '"text"'"#), key, json,
        ],
        "log": [
            Word(form: "DEVICE", text: "a device, one of several processes of it, or kernel"),
            follow, Word(form: "--lines N", text: "only the last N lines"), data, json,
        ],
        "doctor": [devices, data, json],
        "trace": [
            follow, Word(form: "--chrome FILE", text: "write it for chrome://tracing, too"),
            Word(form: "--payloads", text: "with the beginning of each payload"), json,
        ],
        "graph": [
            Word(form: "--format F", text: "mermaid (if nothing is said), dot or json"),
            Word(form: "--json", text: "as --format json"),
        ],
        "symbols": [json],
        "describe": [
            Word(form: "SYMBOL", text: "a symbol or a channel; `concentric symbols` lists all"),
            json,
        ],
        "cancel": [
            Word(form: "FLOW", text: "#NUMBER, NUMBER or EPOCH-NUMBER, as `trace` shows it"),
            json,
        ],
        "errors": [json],
        "new": [
            Word(form: "NAME", text: "of the device, and of the folder that is made for it here"),
            Word(
                form: "--package DIR",
                text: "the folder of Concentric's package; that above this program"),
            json,
        ],
    ]

    /// The options that all verbs have.
    private static let common = [name, help]

    /// An option that a verb has.
    static func option(_ option: String, of verb: String) -> Word? {
        ((words[verb] ?? []) + common).first { $0.options.contains { $0 == option } }
    }

    /// The words of a verb that are no options, in order; nil for one that is not served.
    static func places(of verb: String) -> [Place]? {
        entries.first { $0.verb == verb }.map { entry in
            entry.usage.split(separator: " ").prefix { !$0.hasPrefix("[-") }.map { word in
                let isNeeded = !word.hasPrefix("[")
                return Place(
                    name: isNeeded ? String(word) : String(word.dropFirst().dropLast()),
                    isNeeded: isNeeded)
            }
        }
    }

    static func takesJSON(_ verb: String) -> Bool {
        places(of: verb)?.contains { $0.name == "JSON" } ?? false
    }

    /// The lines that explain a verb's words, and the options that all verbs have.
    static func explained(_ verb: String) -> [String] {
        let all = (words[verb] ?? []) + common
        let width = all.map(\.form.count).max() ?? 0
        return all.map { word in
            let gap = String(repeating: " ", count: width - word.form.count + 2)
            return "  \(word.form)\(gap)\(word.text)"
        }
    }
}
