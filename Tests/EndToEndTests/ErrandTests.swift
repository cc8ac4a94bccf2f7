import CLinux
import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// An imperative handler under kills, position by position.
    @Suite struct Errands {
        /// Who is killed at a position, and how.
        enum Blow: CaseIterable {
            /// The handler's process, by SIGKILL or by its own exit; after that it is a suspect.
            case own, exit
            /// The device that it calls, or the one with the database.
            case partner, store
            /// The same up to 2 ms later: what is asked at the position is on its way.
            case ownSoon, partnerSoon, storeSoon
            case ownLate, partnerLate, storeLate

            var device: String {
                switch self {
                case .own, .exit, .ownSoon, .ownLate: "errand"
                case .partner, .partnerSoon, .partnerLate: "partner"
                case .store, .storeSoon, .storeLate: "infrastructure"
                }
            }

            /// Milliseconds, and one; 0: while the position is passed.
            var delay: Int {
                switch self {
                case .own, .exit, .partner, .store: 0
                case .ownSoon, .partnerSoon, .storeSoon: 1
                case .ownLate, .partnerLate, .storeLate: 3
                }
            }
        }

        static let zoo = [
            Animal(
                name: "errand", answers: ["errand"],
                more: [
                    "calls": ["Zoo.*", "Infrastructure.*"], "reads": ["ZooState"],
                    "writes": ["ZooState"],
                    "regions": [["name": "ZooState", "initial": ["text": "", "count": 0]]],
                ]),
            Animal(name: "partner", answers: ["favour", "twice", "length"]),
        ]

        @Test func `a handler that is killed at any position has each effect once`() throws {
            try Instance.with(zoo: Self.zoo) { instance in
                let run = try Run(instance)
                let labels = try run.errand(nil)
                #expect(labels.count == 18 && Set(labels).count == 18, "\(labels)")
                var blows = 0
                for blow in Blow.allCases {
                    for label in labels {
                        // There an exit would be the partner's.
                        if blow == .exit, label.hasPrefix("the favour") { continue }
                        let passed = try run.errand((label, blow))
                        blows += 1
                        if blow == .own || blow == .exit {
                            #expect(
                                passed.count { $0 == "begins" } == 2, "\(label) \(blow): \(passed)")
                        }
                    }
                }
                #expect(blows == 10 * 18 - 2)
                try run.check()
            }
        }
    }
}

/// Errands, one after the other, and what they leave.
private final class Run {
    private let instance: Instance
    private let watch: Watch
    private var number = 0
    private var restarts: Int64 = 0

    init(_ instance: Instance) throws {
        self.instance = instance
        watch = try Watch(instance, "Kernel.Devices")
        let first: Value = [
            "id": "00000000-0000-4000-8000-000000000001", "name": "Errand 0", "slides": [],
            "config": ["duration": "10", "transition": "fade", "loop": true],
            "createdAt": "1970-01-12T13:46:40.000Z", "version": 0,
        ]
        let made = try instance.run("call", "Infrastructure.Slideshow.save", first.json())
        #expect(made.succeeded, "\(made)")
    }

    /// Runs one and returns the positions that were passed.
    func errand(_ plan: (label: String, blow: EndToEnd.Errands.Blow)?) throws -> [String] {
        number += 1
        unlink("\(instance.data)/trail")
        if let plan {
            let pid = try ready(plan.blow.device).pid
            try Files.write(
                "\(plan.label)|\(plan.blow == .exit ? 0 : pid)|\(plan.blow.delay)",
                to: "\(instance.data)/plan.new")
            rename("\(instance.data)/plan.new", "\(instance.data)/plan")
        }
        let outcome = try instance.run("call", "Zoo.errand", "\(number)")
        let what = plan.map { "\($0.blow) at '\($0.label)'" } ?? "no blow"
        guard outcome.succeeded else { throw Failure("errand \(number), \(what): \(outcome)") }
        let report = try Value.parse(json: outcome.out)
        let text = "\(number) of \(number - 1)"
        let now = report["now"]?.int ?? 0
        let suffixed = "\(text) at \(now)"
        #expect(
            report == [
                "number": .int(Int64(number)), "now": .int(now), "random": report["random"] ?? 0,
                "before": .int(Int64(number - 1)), "after": .int(Int64(number)),
                "favour": .text(text), "twice": .text(text + text),
                "joined": .text("\(suffixed.utf8.count) <\(suffixed)\(suffixed)>"),
            ], "\(what)")
        let state = try instance.json("buffer", "ZooState")["value"]
        let random = report["random"]?.int ?? 0
        #expect(
            state == ["text": .text("\(number) \(now) \(random)"), "count": .int(Int64(number))],
            "\(what)")
        let stored = try self.stored()
        #expect(
            stored["name"]?.text == "Errand \(number)"
                && stored["version"]?.int == Int64(number) + 1,
            "\(what): \(stored.json())")
        if plan != nil {
            #expect(access("\(instance.data)/plan", F_OK) != 0, "\(what) was not dealt")
            // A blow that comes late hits all the same.
            restarts += 1
            try watch.wait(for: "\(what) hits") { value in
                let rows = try (value.array ?? []).map(DeviceRow.init)
                return rows.map(\.restarts).reduce(0, +) == self.restarts
                    && rows.allSatisfy { $0.state == "ready" }
            }
        }
        return Files.text("\(instance.data)/trail").split(separator: "\n").map(String.init)
    }

    /// The slideshow in the database; its version counts the times that it was stored.
    private func stored() throws -> Value {
        try instance.json(
            "call", "Infrastructure.Slideshow.fetch",
            "{\"id\": \"00000000-0000-4000-8000-000000000001\"}")
    }

    private func ready(_ device: String) throws -> DeviceRow {
        try watch.drain()
        return try watch.device(device) { $0.state == "ready" }
    }

    /// Each errand has had its effects, once.
    func check() throws {
        let favours = Files.names(in: "\(instance.data)/partner.tally").filter {
            !$0.hasPrefix(".")
        }
        #expect(favours.count == number)
        #expect(try instance.json("errors") == [])
    }
}
