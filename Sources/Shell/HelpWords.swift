extension Help {
    /// A word of a verb's usage, as it is written there, and what it means.
    struct Word {
        var form: String
        var text: String
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
    private static let follow = Word(
        form: "-f, --follow", text: "go on with what comes, until Ctrl-C")

    /// The words of each verb that has some of its own.
    static let words: [String: [Word]] = [
        "up": [
            devices, data,
            Word(form: "--detach", text: "return once every device is ready; the kernel goes on"),
            Word(form: "--json", text: "with --detach: print {pid, socket}"),
        ],
        "ps": [json],
        "kill": [
            device, Word(form: "--signal S", text: "its name, such as TERM, or its number"),
        ],
        "restart": [
            device,
            Word(
                form: "--swap",
                text: "start the new process first; the old one finishes what it has begun"),
        ],
        "stop": [device],
        "start": [device],
        "call": [
            symbol, payload,
            Word(form: "--deadline MS", text: "milliseconds after which the call has failed"), key,
        ],
        "dispatch": [symbol, payload, key],
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
            channel, Word(form: "JSON", text: #"the event; a text is '"text"'"#), key,
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
            Word(form: "--format F", text: "mermaid (if nothing is said), dot or json")
        ],
        "symbols": [json],
        "describe": [
            Word(form: "SYMBOL", text: "a symbol or a channel; `concentric symbols` lists all"),
            json,
        ],
        "cancel": [
            Word(form: "FLOW", text: "#NUMBER, NUMBER or EPOCH-NUMBER, as `trace` shows it")
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

    /// The lines that explain a verb's words, and the option that all verbs have.
    static func explained(_ verb: String) -> [String] {
        let common = Word(
            form: "--name INSTANCE", text: "which kernel is meant: $CONCENTRIC_NAME, or main")
        let all = (words[verb] ?? []) + [common]
        let width = all.map(\.form.count).max() ?? 0
        return all.map { word in
            let gap = String(repeating: " ", count: width - word.form.count + 2)
            return "  \(word.form)\(gap)\(word.text)"
        }
    }
}
