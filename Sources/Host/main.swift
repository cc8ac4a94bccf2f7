import Glibc
import UnixSocket

/// Says what is wrong, in one line on standard error.
func complain(_ line: String) {
    put("concentric-kernel: \(line)\n", on: 2)
}

signal(SIGPIPE, SIG_IGN)
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
    complain("\(error)")
    exit(64)
}
do {
    try EventLoop.runMain {
        let house = try House(options)
        house.boot()
        Keeper.house = house
    }
} catch {
    complain("\(error)")
    exit(69)
}

/// What lives as long as the process.
@LoopActor
enum Keeper {
    static var house: House?
}
