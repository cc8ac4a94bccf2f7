import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// One payload that ends every process, among good calls to the same device.
    @Suite struct Poisons {
        /// What the poison does, and how often it is begun before it is known: one that dies while
        /// its code runs is charged each time. One that dies later was one of several suspects, if
        /// others had begun, and that time is nobody's.
        static let cases: [(word: String, deed: String, attempts: ClosedRange<Int>)] = [
            ("diary", "exit 3", 3...3),
            ("diary", "trap", 3...3),
            ("slip", "exit 3", 3...3),
            ("diary", "late exit 3", 3...4),
        ]

        @Test(arguments: cases)
        func `a poison is tried three times, and a thousand calls beside it succeed`(
            word: String, deed: String, attempts: ClosedRange<Int>
        ) throws {
            try Answers.with { instance in
                let client = try Visitor(
                    instance, ["Zoo.\(word).zoo"], window: 16, count: 1_000, poisons: [deed])
                let visits = try client.end(byItself: true)
                #expect(visits.right == 1_000)
                #expect(visits.failures == [] && visits.wrong == [], "\(visits)")
                #expect(visits.poisoned == [.text("\(deed): poisoned")])
                try check(instance, deed, attempts)
            }
        }

        @Test(arguments: cases)
        func `a poison costs none of the calls that are in flight with it`(
            word: String, deed: String, attempts: ClosedRange<Int>
        ) throws {
            try Answers.with { instance in
                let load = try Watch(instance, "Kernel.Load")
                var calls = (1...1_000).map { (word: word, text: "good \($0)") }
                calls.insert((word: word, text: deed), at: 500)
                let answers = try Answers.burst(instance, calls)
                #expect(answers == calls.map { $0.text == deed ? "!poisoned" : $0.text })
                try check(instance, deed, attempts)
                // Half of them stood behind it in the cable of the process that it ended; while it
                // waited, that process has answered some of these.
                let least = deed.hasPrefix("late") ? 4 : 500
                try load.wait(for: "the load") { ($0["replays"]?.int ?? 0) > least }
            }
        }

        private func check(
            _ instance: Instance, _ deed: String, _ attempts: ClosedRange<Int>
        ) throws {
            var diary = Answers.diary(instance)
            let begun = diary.removeValue(forKey: deed) ?? 0
            #expect(attempts.contains(begun), "it was begun \(begun) times")
            #expect(diary.count == 1_000)
            // Those that had begun in the same process may have been begun once more.
            #expect(diary.values.allSatisfy { $0 <= 2 })
            let row = try instance.device("zoo")
            #expect(row.state == "ready" && row.restarts == 1, "\(row)")
            #expect(try instance.device("steady").restarts == 0)
            #expect(try instance.json("errors") == [], "calls are told to their callers")
        }
    }
}
