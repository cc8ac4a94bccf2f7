import DeviceKit
import Glibc
import Testing

/// One animal of the zoo: what it is brought to do beside two healthy siblings, and what must be
/// seen of it.
struct Exhibit {
    enum Step {
        /// Its next process begins wild; it begins tame again.
        case wild, tame
        /// A signal from outside.
        case signal(Int32)
        /// Is told what to do after the visit.
        case act(String)
        /// Is told what to do once, while the visit runs; the answer must come all the same.
        case dare(String)
        /// The same, and nobody waits for the answer.
        case leave(String)
        /// Is told what to do whenever the visit runs: the call must fail with this code.
        case obey(String, fails: String)
        /// A word of the operator.
        case operate(String)
        /// Waits until it is shown so.
        case until(String)
        /// Waits until it has this many processes.
        case processes(Int)
        /// Waits until its process is not the leader of its group.
        case deserted
    }

    var name: String
    var behaviour: [String] = []
    /// Whether it answers anything.
    var serves = true
    var more: [String: Value] = [:]
    var steps: [Step] = []
    var state = "ready"
    /// One of these is its last exit; none is the exit of a process that never ended.
    var exits: [String] = [""]
    var restarts: ClosedRange<Int64> = 0...0
    /// Processes that it has started and that live as long as it.
    var company = 0
    /// Each stands in a line of its log, after the time: `#2 err no luck`.
    var log: [String] = []
    /// Each stands in a message of `Kernel.Errors`.
    var errors: [String] = []

    /// The words of the zoo that it uses.
    var words: [String] {
        behaviour
            + steps.compactMap { step in
                switch step {
                case .act(let text), .dare(let text), .leave(let text), .obey(let text, _):
                    text.split(separator: " ").first.map(String.init)
                default: nil
                }
            }
    }

    func fits(_ row: DeviceRow) -> Bool {
        row.state == state && exits.contains(row.lastExit) && restarts.contains(row.restarts)
    }

    var animal: Animal {
        var animal = Animal(name: name, behaviour: behaviour, more: more)
        if serves { animal.answers = ["echo", "act", "dare", "obey"].map { "\($0).\(name)" } }
        return animal
    }
}

/// A house in which animals are shown.
struct ZooHouse {
    let instance: Instance
    let watch: Watch

    static let siblings = ["steady", "calm"]

    /// Brings each animal to do what it does, all of them in one house, and looks.
    static func show(_ exhibits: [Exhibit]) throws {
        #expect(!exhibits.isEmpty)
        #expect(Set(exhibits.map(\.name)).count == exhibits.count, "each has its own name")
        let zoo =
            exhibits.map(\.animal)
            + siblings.map { Animal(name: $0, answers: ["echo.\($0)"]) }
        try Instance.with(zoo: zoo, reference: false) { instance in
            let before = try instance.devices().filter { siblings.contains($0.name) }
            #expect(before.count == 2)
            let resident = Proc.resident(instance.kernel)
            let visitor = try Visitor(instance, siblings.map { "Zoo.echo.\($0)" }, pause: 5)
            let house = ZooHouse(instance: instance, watch: try Watch(instance, "Kernel.Devices"))
            for exhibit in exhibits {
                for step in exhibit.steps { try house.take(step, exhibit) }
            }
            // Whatever is not as it must be by then is told, one after the other.
            let end = Clock.now + Wait.patience
            for exhibit in exhibits { try house.look(at: exhibit, until: max(end, Clock.now + 1)) }
            try house.lookAgain(at: exhibits)
            #expect(Proc.isAlive(instance.kernel))
            #expect(try instance.devices().filter { siblings.contains($0.name) } == before)
            let grown = Proc.resident(instance.kernel) - resident
            #expect(grown < 32 << 10, "the kernel has grown by \(grown) KiB")
            let visits = try visitor.end()
            #expect(visits.failures == [] && visits.wrong == [] && visits.right > 20, "\(visits)")
            #expect(visits.slowest < 5_000, "\(visits)")
            house.watch.end()
            try house.close()
        }
    }

    /// `down` leaves nothing of any animal.
    private func close() throws {
        let children = Proc.all.filter { $0.parent == instance.kernel }.map(\.pid)
        #expect(try instance.run("down").succeeded)
        let left = Proc.survivors(of: children + Proc.using(instance.folder))
        #expect(left == [], "\(left.map { Files.text("/proc/\($0)/cmdline") })")
        #expect(access(instance.socket, F_OK) != 0)
    }

    // MARK: - What is done

    private func take(_ step: Exhibit.Step, _ exhibit: Exhibit) throws {
        let name = exhibit.name
        switch step {
        case .wild: try Files.write("", to: file(name, "wild"))
        case .tame: unlink(file(name, "wild"))
        case .signal(let signal):
            let row = try watch.device(name) { $0.pid != 0 }
            kill(row.pid, signal)
        case .act(let text):
            let outcome = try instance.run("call", "Zoo.act.\(name)", Value.text(text).json())
            #expect(outcome.succeeded, "\(name): \(outcome)")
        case .dare(let text):
            try Files.write("", to: file(name, "dare"))
            let outcome = try instance.run("call", "Zoo.dare.\(name)", Value.text(text).json())
            #expect(outcome.out == Value.text(text).json() + "\n", "\(name): \(outcome)")
            #expect(access(file(name, "dare"), F_OK) != 0, "\(name) has done nothing")
        case .leave(let text):
            try Files.write("", to: file(name, "dare"))
            _ = try instance.start(
                program: "/bin/sh",
                ["-c", "\(Programs.shell) call Zoo.dare.\(name) '\"\(text)\"' & exit 0"]
            ).finish()
            try Wait.until("\(name) has begun") { access(file(name, "dare"), F_OK) != 0 }
        case .obey(let text, let code):
            let outcome = try instance.run("call", "Zoo.obey.\(name)", Value.text(text).json())
            #expect(outcome.err.contains(code), "\(name): \(outcome)")
        case .operate(let word):
            let outcome = try instance.run(word, name)
            #expect(outcome.succeeded, "\(name): \(outcome)")
        case .until(let state): _ = try watch.device(name) { $0.state == state }
        case .processes(let count):
            try Wait.until("\(name) has \(count) processes") { processes(of: name).count == count }
        case .deserted:
            let pid = try watch.device(name) { $0.pid != 0 }.pid
            try Wait.until("\(name) leaves") { Proc.status(pid).map { $0.group != pid } ?? false }
        }
    }

    private func file(_ name: String, _ kind: String) -> String {
        "\(instance.data)/\(name).\(kind)"
    }

    // MARK: - What is seen

    private func look(at exhibit: Exhibit, until end: Double) throws {
        let name = exhibit.name
        try watch.drain()
        var last: DeviceRow?
        let row: DeviceRow
        do {
            row = try watch.device(name, until: end) {
                last = $0
                return exhibit.fits($0)
            }
        } catch {
            Issue.record("\(name) is \(last.map { "\($0)" } ?? "unknown"), not \(exhibit)")
            return
        }
        let rests = ["failed", "done", "stopped"].contains(exhibit.state)
        #expect((row.pid == 0) == rests, "\(row)")
        if exhibit.state == "ready", exhibit.serves {
            let echo = try instance.run("call", "Zoo.echo.\(name)", "\"well\"")
            #expect(echo.out == "\"well\"\n", "\(name): \(echo)")
        }
        for text in exhibit.log {
            try Wait.until("\(name) logs \(text)") {
                Files.text("\(instance.data)/log/\(name).log").contains(text)
            }
        }
        for line in Files.text("\(instance.data)/log/\(name).log").split(separator: "\n") {
            #expect(line.utf8.count < 8 << 10 + 128, "\(name)")
        }
        if !exhibit.errors.isEmpty {
            let all = try instance.json("errors").array ?? []
            let messages = all.filter { $0["symbol"]?.text == name }.compactMap {
                $0["message"]?.text
            }
            for text in exhibit.errors {
                #expect(messages.contains { $0.contains(text) }, "\(name): \(messages)")
            }
        }
        if row.pid != 0 {
            try Wait.until("\(name) has no zombie") { Proc.zombies(of: row.pid).isEmpty }
        }
        try Wait.until("the kernel has no zombie") { Proc.zombies(of: instance.kernel).isEmpty }
        // Whatever it started is gone with the process that started it.
        do {
            try Wait.until("only its process is there") {
                let found = processes(of: name)
                guard found.count == (rests ? 0 : 1) + exhibit.company else { return false }
                return try rests || found.contains(instance.device(name).pid)
            }
        } catch {
            let left = processes(of: name).map { "\($0) \(Files.text("/proc/\($0)/cmdline"))" }
            Issue.record("\(name) has \(left)")
        }
    }

    /// What was as it must be has stayed so.
    private func lookAgain(at exhibits: [Exhibit]) throws {
        let rows = try instance.devices()
        for exhibit in exhibits {
            let row = rows.first { $0.name == exhibit.name }
            #expect(row.map(exhibit.fits) == true, "\(row as Any)")
        }
    }

    private func processes(of name: String) -> [Int32] {
        Proc.using(instance.folder).filter {
            Files.text("/proc/\($0)/environ").contains("CONCENTRIC_DEVICE=\(name)\0")
        }
    }
}

/// A client that calls symbols over and over, until it is told to end.
final class Visitor {
    struct Visits: CustomStringConvertible {
        var right: Int64
        var wrong: [Value]
        var failures: [Value]
        var poisoned: [Value]
        /// Milliseconds.
        var slowest: Int64

        var description: String {
            "\(right) right, \(wrong.count) wrong, \(poisoned.count) poisoned, slowest \(slowest) "
                + "ms, failures \(Value.array(failures).json())"
        }
    }

    private let command: Command

    /// Returns when it visits.
    init(
        _ instance: Instance, _ symbols: [String], window: Int = 1, pause: Int = 0,
        count: Int? = nil, poisons: [String] = [], photos: String = ""
    ) throws {
        let words =
            ["visit", "--window", "\(window)", "--pause", "\(pause)"]
            + (count.map { ["--count", "\($0)"] } ?? []) + poisons.flatMap { ["--poison", $0] }
            + symbols
        let command = try instance.start(
            program: Programs.zoo, words, variables: ["VISIT_PHOTOS": photos])
        self.command = command
        try Wait.until("a visitor is there") { command.printed.contains("visiting\n") }
    }

    func send(_ signal: Int32) { command.send(signal) }

    var pid: Int32 { command.pid }

    /// Tells it to end, unless it ends by itself, and reads how it went.
    func end(byItself: Bool = false) throws -> Visits {
        if !byItself { command.send(SIGTERM) }
        let outcome = try command.finish()
        guard outcome.succeeded, let line = outcome.out.split(separator: "\n").last,
            let value = try? Value.parse(json: String(line)), let right = value["right"]?.int
        else { throw Failure("a visitor ended oddly: \(outcome)") }
        return Visits(
            right: right, wrong: value["wrong"]?.array ?? [],
            failures: value["failures"]?.array ?? [], poisoned: value["poisoned"]?.array ?? [],
            slowest: value["slowest"]?.int ?? 0)
    }
}
