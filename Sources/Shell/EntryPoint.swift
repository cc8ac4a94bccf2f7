import DeviceKit
import Glibc

/// The command line: an ordinary client that serves any application.
@main
enum EntryPoint {
    static func main() {
        StandardStreams.fill()
        // A file over a limit of the size of files is an error that is told.
        signal(SIGXFSZ, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        guard let first = words.first, !["--help", "-h", "help"].contains(first) else {
            // `help VERB` is `VERB --help`.
            if let verb = words.dropFirst().first, !verb.hasPrefix("-"), Help.of(verb) == nil {
                Output.complain("there is no verb \(verb); see `concentric --help`")
                exit(64)
            }
            Output.line(words.dropFirst().first.flatMap(Help.of) ?? Help.all)
            exit(words.isEmpty ? 64 : 0)
        }
        if first == "--version" {
            Output.line("concentric \(Program.build), wire \(Program.wire)")
            exit(0)
        }
        let arguments: Arguments
        do {
            arguments = try Arguments(words)
        } catch {
            Output.complain(error.message)
            exit(64)
        }
        if arguments.wantsHelp, let help = Help.of(arguments.verb) {
            Output.line(help)
            exit(0)
        }
        do {
            try arguments.checkWords()
        } catch {
            Output.complain("\(arguments.verb): \(error.message)")
            exit(64)
        }
        switch arguments.verb {
        case "up": Launch.up(arguments)
        case "attach": Launch.attach(arguments)
        default: Program.run { await run(arguments) }
        }
    }

    @LoopActor
    private static func run(_ arguments: Arguments) async -> Int32 {
        do {
            return try await Verbs.run(arguments)
        } catch let error as UsageError {
            Output.complain("\(arguments.verb): \(error.message)")
            return 64
        } catch let error as PayloadError {
            Output.complain("\(arguments.verb): \(error.message)")
            return 65
        } catch let error as OutputError {
            Output.complain("\(arguments.verb): \(error.message)")
            return 74
        } catch {
            let error = KernelError(error)
            Output.complain("\(arguments.verb): \(error)")
            return Output.code(of: error)
        }
    }
}
