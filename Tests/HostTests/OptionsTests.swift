import Glibc
import Supervisor
import Testing

@testable import Host

/// The words with which the kernel is started, and signals by their names.
@Suite struct OptionsTests {
    @Test func `every option takes its value`() throws {
        let options = try Options(["--data", "/d", "--name", "n", "--devices", "v"])
        #expect((options.name, options.data, options.devices) == ("n", "/d", "v"))
        #expect(options.dataDirectory == "/d")
        #expect(options.logDirectory == "/d/log")
    }

    static let wrong: [(words: [String], named: String)] = [
        (["--nmae", "n"], "--nmae"), (["n"], "unknown word n"), (["--name"], "--name wants"),
        (["--data", ""], "--data wants"), (["--name", "n", "--devices"], "--devices wants"),
    ]

    @Test(arguments: 0..<wrong.count)
    func `a word that makes no sense is named`(_ index: Int) {
        let (words, named) = Self.wrong[index]
        let error = #expect(throws: Options.UsageError.self) { try Options(words) }
        #expect(error?.description.contains(named) == true, "\(error?.description ?? "")")
    }

    static let patience: [(text: String?, nanoseconds: UInt64?)] = [
        (nil, HouseLimits.patience), ("5", 5_000_000), ("3600000", 3_600_000_000_000),
        ("4", nil), ("3600001", nil), ("", nil), ("-5", nil), ("1s", nil),
        ("99999999999999999999", nil),
    ]

    @Test(arguments: 0..<patience.count)
    func `the patience with a client is a number of milliseconds within bounds`(_ index: Int) {
        let (text, nanoseconds) = Self.patience[index]
        #expect((try? Options.patience(text)) == nanoseconds)
    }

    static let unread: [(text: String?, bytes: Int?)] = [
        (nil, HouseLimits.unread), ("16", 16 << 20), ("1048576", 1 << 40), ("15", nil),
        ("1048577", nil), ("", nil), ("-16", nil), ("16M", nil), ("99999999999999999999", nil),
    ]

    @Test(arguments: 0..<unread.count)
    func `what clients may leave unread is a number of mebibytes within bounds`(_ index: Int) {
        let (text, bytes) = Self.unread[index]
        #expect((try? Options.unread(text)) == bytes)
    }

    static let signals: [(word: String, number: Int32?)] = [
        ("TERM", SIGTERM), ("SIGTERM", SIGTERM), ("term", SIGTERM), ("15", SIGTERM),
        ("KILL", SIGKILL), ("sigusr1", SIGUSR1), ("0", nil), ("65", nil), ("-9", nil), ("", nil),
        ("SIG", nil), ("NONE", nil), ("99999999999", nil),
    ]

    @Test(arguments: 0..<signals.count)
    func `a signal is known by its name or number`(_ index: Int) {
        let (word, number) = Self.signals[index]
        #expect(SignalName.number(word) == number)
    }
}
