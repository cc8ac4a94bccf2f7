import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// What becomes of the answers of a device whose process ends right after them.
    @Suite struct Answers {
        static let words = ["diary", "entry", "slip", "stamp"]

        /// The calls that stand in the cable of the device at once, and what comes of each.
        static func burst(
            _ instance: Instance, _ calls: [(word: String, text: String)],
            meanwhile: (() throws -> Void)? = nil
        ) throws -> [String] {
            let words = calls.flatMap { ["Zoo.\($0.word).zoo", $0.text] }
            let mark = "\(instance.folder)/mark"
            if meanwhile != nil { try Files.write("", to: "\(mark).hold") }
            let client = try instance.start(program: Programs.zoo, ["burst", mark] + words)
            if let meanwhile {
                try Wait.until("the calls are in the cable") { client.printed == "sent\n" }
                try meanwhile()
            }
            let outcome = try client.finish()
            guard outcome.succeeded else { throw Failure("\(outcome)") }
            let last = outcome.out.split(separator: "\n").last ?? ""
            return try Value.parse(json: String(last)).array?.compactMap(\.text) ?? []
        }

        static func with(_ body: (Instance) throws -> Void) throws {
            let zoo = [
                Animal(name: "zoo", answers: words.map { "\($0).zoo" } + ["gate"]),
                Animal(name: "steady", answers: ["echo.steady"]),
            ]
            try Instance.with(zoo: zoo, reference: false, body)
        }

        /// How often each payload was begun.
        static func diary(_ instance: Instance) -> [String: Int] {
            let lines = Files.text("\(instance.data)/zoo.diary").split(separator: "\n")
            return Dictionary(lines.map { (String($0), 1) }, uniquingKeysWith: +)
        }

        @Test(arguments: ["entry", "stamp"], ["diary", "slip", "entry"])
        func `a visit that may not be repeated keeps its answer when the next ends the process`(
            once: String, deadly: String
        ) throws {
            try Self.with { instance in
                var calls: [(word: String, text: String)] = []
                for number in 1...3 {
                    for place in 1...3 { calls.append((once, "once \(number)-\(place)")) }
                    calls.append((deadly, "exit \(number)"))
                }
                let answers = try Self.burst(instance, calls)
                let end = deadly == "entry" ? "!deviceLost" : "!poisoned"
                #expect(
                    answers == calls.map { $0.word == once && $0.text.first == "o" ? $0.text : end }
                )
                let diary = Self.diary(instance)
                #expect(diary.count == calls.count)
                for (text, count) in diary {
                    let most = text.first == "o" || deadly == "entry" ? 1 : 3
                    #expect(count == most, "\(text) was begun \(count) times")
                }
            }
        }

        @Test(arguments: ["diary", "slip"])
        func `deadly visits close together do not cost the device its good name`(
            word: String
        ) throws {
            try Self.with { instance in
                let calls = (1...6).flatMap { number in
                    [(word: word, text: "good \(number)"), (word: word, text: "exit \(number)")]
                }
                let answers = try Self.burst(instance, calls)
                #expect(answers == calls.map { $0.text.first == "g" ? $0.text : "!poisoned" })
                let diary = Self.diary(instance)
                #expect(diary.count == calls.count)
                for (text, count) in diary {
                    // An answer is lost once at most, with the first who ends the process.
                    let counts = text.first == "g" ? 1...2 : 3...3
                    #expect(counts.contains(count), "\(text) was begun \(count) times")
                }
                let row = try instance.device("zoo")
                #expect(row.state == "ready" && row.restarts == 6, "\(row)")
                #expect(try instance.device("steady").restarts == 0)
            }
        }

        @Test(arguments: words)
        func `a device goes on by itself until all that came at once is done`(word: String) throws {
            try Self.with { instance in
                let calls = (1...500).map { (word: word, text: "\($0)") }
                let answers = try Self.burst(instance, calls) {
                    // Nobody else wakes it.
                    kill(instance.kernel, SIGSTOP)
                    try Files.write("", to: "\(instance.folder)/mark.go")
                    try Wait.until("all are done") { Self.diary(instance).count == calls.count }
                    kill(instance.kernel, SIGCONT)
                }
                #expect(answers == calls.map(\.text))
                #expect(Self.diary(instance).values.allSatisfy { $0 == 1 })
            }
        }
    }
}
