/// What `--help` says.
enum Help {
    /// One verb: how it is called, and what it does.
    struct Entry {
        var verb: String
        var usage: String
        var text: String
    }

    static let entries: [Entry] = [
        Entry(
            verb: "up", usage: "[--devices DIR] [--data DIR] [--detach [--json]]",
            text: "starts the kernel and every device; prints `ready pid=… socket=…`"),
        Entry(verb: "down", usage: "[--json]", text: "ends the kernel and every device"),
        Entry(verb: "attach", usage: "", text: "runs the terminal client"),
        Entry(verb: "ps", usage: "[--json]", text: "lists the devices and how they are"),
        Entry(
            verb: "kill", usage: "DEVICE [--signal S] [--json]",
            text: "sends a signal to a device (KILL)"),
        Entry(
            verb: "restart", usage: "DEVICE [--swap] [--json]",
            text: "ends a device and starts it again; waits until it is ready"),
        Entry(
            verb: "stop", usage: "DEVICE [--json]",
            text: "ends a device, which then stays away; waits for its end"),
        Entry(
            verb: "start", usage: "DEVICE [--json]",
            text: "starts a device that was stopped or failed; waits until it is ready"),
        Entry(
            verb: "call", usage: "SYMBOL [JSON] [--deadline MS] [--key KEY] [--json]",
            text: "calls a symbol and prints its output"),
        Entry(
            verb: "dispatch", usage: "SYMBOL [JSON] [--key KEY] [--json]",
            text: "sends a command into its lane; failures are told by `errors`"),
        Entry(
            verb: "buffer", usage: "REGION [--watch | --at REV] [--json]",
            text: "prints a region, now or at a revision, and with --watch every change of it"),
        Entry(
            verb: "history", usage: "REGION [--limit N] [--json]",
            text: "lists the changes of a region that are kept, and who made them"),
        Entry(
            verb: "follow", usage: "CHANNEL [--after N] [--json]",
            text: "prints the events of a channel as they come; --after 0: all that is kept"),
        Entry(
            verb: "publish", usage: "CHANNEL [JSON] [--key KEY] [--json]",
            text: "publishes an event and prints its number"),
        Entry(
            verb: "log", usage: "[DEVICE] [-f | --follow] [--lines N] [--data DIR] [--json]",
            text: "prints what devices and the kernel have logged; -f goes on with what comes"),
        Entry(
            verb: "doctor", usage: "[--devices DIR] [--data DIR] [--json]",
            text: "looks for what is wrong with this machine, the devices and the kernel"),
        Entry(
            verb: "trace", usage: "[-f | --follow] [--chrome FILE] [--payloads] [--json]",
            text: "prints the flows that ran as trees; --follow prints each as it ends"),
        Entry(
            verb: "graph", usage: "[--format F] [--json]",
            text: "draws every pipe that is bound, from the running kernel"),
        Entry(
            verb: "symbols", usage: "[--json]", text: "lists what can be called, and who answers"),
        Entry(
            verb: "describe", usage: "SYMBOL [--json]",
            text: "says what a symbol promises, and what its pipe is made of"),
        Entry(
            verb: "cancel", usage: "FLOW [--json]",
            text: "ends a flow, by the number that errors and traces give it"),
        Entry(verb: "errors", usage: "[--json]", text: "lists what went wrong with nobody waiting"),
        Entry(
            verb: "new", usage: "device NAME [--package DIR] [--json]",
            text: "makes the package of a device that works, to go on from"),
    ]

    /// All of them.
    static let verbs = Set(entries.map(\.verb))

    static var all: String {
        let width = entries.map { $0.verb.count + $0.usage.count + 1 }.max() ?? 0
        let lines = entries.map { entry in
            let call = call(entry.verb)
            return "  \(call)\(String(repeating: " ", count: width - call.count + 2))\(entry.text)"
        }
        return """
            usage: concentric VERB [--name INSTANCE] [--json]

            \(lines.joined(separator: "\n"))

            Every verb takes --name (the instance; $CONCENTRIC_NAME, or main) and --help. DEVICE is
            a device, or one of several processes of it, such as compute/2.
            """
    }

    /// A verb with its words: `kill DEVICE [--signal S] [--json]`.
    static func call(_ verb: String) -> String {
        let usage = entries.first { $0.verb == verb }?.usage ?? ""
        return usage.isEmpty ? verb : "\(verb) \(usage)"
    }

    static func of(_ verb: String) -> String? {
        entries.first { $0.verb == verb }.map {
            "usage: concentric \(call($0.verb))\n\n\($0.text)\n\n"
                + explained(verb).joined(separator: "\n")
        }
    }
}
