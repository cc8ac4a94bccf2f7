import Glibc
import UnixSocket

StandardStreams.fill()
signal(SIGPIPE, SIG_IGN)
// A log over a limit of the size of files costs lines, not the kernel.
signal(SIGXFSZ, SIG_IGN)
// Signals that mean nothing here would end it without a word.
for stray in [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR] {
    signal(stray, SIG_IGN)
}
// What is made here and in devices is for this user, whatever the mask of who started them.
umask(0o077)
let words = Array(CommandLine.arguments.dropFirst())
if words.contains("--help") {
    print(Options.usage)
    exit(0)
}
let options: Options
do {
    options = try Options(words)
} catch {
    sayOnError("\(error)")
    exit(64)
}
do {
    try EventLoop.runMain {
        let house = try House(options)
        house.boot()
        Keeper.house = house
    }
} catch {
    sayOnError("\(error)")
    exit(69)
}

/// What lives as long as the process.
@LoopActor
enum Keeper {
    static var house: House?
}
