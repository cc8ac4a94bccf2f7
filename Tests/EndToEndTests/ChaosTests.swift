import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Commands from several clients while devices die: `Scripts/chaos`, a small run of it.
    @Suite struct Turmoil {
        @Test func `buffer, SQLite and model agree after a run of commands among kills`() throws {
            let folder = "/tmp/ct-\(getpid())"
            mkdir(folder, 0o700)
            defer { Files.remove(folder) }
            let variables = [
                "PATH": "/usr/bin:/bin", "HOME": folder, "CONCENTRIC_BIN": Programs.folder,
                "TMPDIR": folder,
            ]
            let run = try Command(
                Programs.chaos, ["--commands", "200", "--kills", "50"], environment: variables,
                folder: folder)
            let outcome = try run.finish()
            let words = outcome.out.split(whereSeparator: \.isWhitespace).map(String.init)
            func number(_ name: String) -> Int? {
                words.firstIndex(of: name).flatMap { Int(words[$0 + 1]) }
            }
            #expect(outcome.succeeded, "\(outcome.out) \(outcome.err)")
            #expect(number("commands") == 200 && number("kills") == 50)
            for flaw in ["lost", "doubled", "diverged"] { #expect(number(flaw) == 0) }
            #expect(number("replays") ?? 0 > 0, "nothing was under way when a device died")
            let left = Files.names(in: folder).filter { $0.hasPrefix("chaos-") }
            #expect(left == [], "the folder of the run stays")
        }
    }
}
