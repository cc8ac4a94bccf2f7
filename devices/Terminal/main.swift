import DeviceKit
import Glibc

if CommandLine.arguments.contains("--help") {
    print("usage: terminal    (the terminal client of $CONCENTRIC_NAME; `concentric attach`)")
    exit(0)
}
Program.run {
    do {
        return try await Client(instance: Program.instance).run()
    } catch {
        let text = "terminal: \(error)\n"
        _ = text.withCString { write(2, $0, strlen($0)) }
        return 74
    }
}
