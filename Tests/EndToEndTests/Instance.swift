import DeviceKit
import Glibc

/// One kernel in folders of its own, which nothing survives.
final class Instance {
    /// Holds the socket, the data and the manifests. Its path is short, for a socket's path has at
    /// most 107 bytes.
    let folder: String
    var data: String { "\(folder)/data" }
    var socket: String { "\(folder)/concentric/main.sock" }
    private(set) var kernel: Int32 = 0
    private let manifests: String?

    /// - Parameter zoo: devices to run; with `reference`, beside those of the application.
    init(zoo: [Animal] = [], reference: Bool = true) throws {
        var template = Array("/tmp/ce-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("no temporary folder") }
        folder = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard !zoo.isEmpty else {
            manifests = nil
            return
        }
        let manifests = "\(folder)/devices"
        self.manifests = manifests
        mkdir(manifests, 0o700)
        if reference {
            for name in ["Compute", "Circuit", "Infrastructure"] {
                symlink("\(Programs.repository)/devices/\(name)", "\(manifests)/\(name)")
            }
        }
        for animal in zoo {
            mkdir("\(manifests)/\(animal.name)", 0o700)
            try Files.write(animal.manifest, to: "\(manifests)/\(animal.name)/device.json")
        }
    }

    /// Runs a test with an instance that is up, and ends it whatever happens.
    static func with(
        zoo: [Animal] = [], reference: Bool = true, _ body: (Instance) throws -> Void
    ) throws {
        let instance = try Instance(zoo: zoo, reference: reference)
        defer { instance.end() }
        try instance.up()
        try body(instance)
    }

    /// Kills what is left and removes the folder.
    func end() {
        for _ in 0..<3 {
            let left = Proc.using(folder)
            if left.isEmpty { break }
            for pid in left { kill(pid, SIGKILL) }
            _ = Proc.survivors(of: left)
        }
        Files.remove(folder)
    }

    // MARK: - Commands

    private var environment: [String: String] {
        ["PATH": "/usr/bin:/bin", "HOME": folder, "XDG_RUNTIME_DIR": folder]
    }

    func start(
        program: String = Programs.shell, _ words: [String], output: Int32? = nil,
        variables: [String: String] = [:]
    ) throws -> Command {
        try Command(
            program, words, environment: environment.merging(variables) { $1 }, folder: folder,
            output: output)
    }

    /// Runs the shell to its end.
    @discardableResult
    func run(_ words: String...) throws -> Outcome {
        try start(words).finish()
    }

    /// The JSON that a command prints.
    /// - Throws: `Failure` when it fails.
    func json(_ words: String...) throws -> Value {
        let outcome = try start(words + ["--json"]).finish()
        guard outcome.succeeded else { throw Failure("\(words): \(outcome)") }
        return try Value.parse(json: outcome.out)
    }

    var upWords: [String] {
        ["up", "--detach", "--data", data] + (manifests.map { ["--devices", $0] } ?? [])
    }

    /// Starts the kernel and waits until it is ready.
    func up(variables: [String: String] = [:]) throws {
        // Tests stop clients for as long as their other work takes.
        let patient = ["CONCENTRIC_PATIENCE": "3600000"].merging(variables) { $1 }
        let outcome = try start(upWords, variables: patient).finish()
        guard outcome.succeeded, let ready = Ready(outcome.out) else {
            throw Failure("up: \(outcome)")
        }
        kernel = ready.pid
    }

    func devices() throws -> [DeviceRow] {
        try (json("ps").array ?? []).map(DeviceRow.init)
    }

    func device(_ name: String) throws -> DeviceRow {
        guard let row = try devices().first(where: { $0.name == name }) else {
            throw Failure("ps shows no \(name)")
        }
        return row
    }
}

/// The line with which `up` says that it is done.
struct Ready {
    var pid: Int32
    var socket: String

    init?(_ text: String) {
        let parts = text.split(separator: "\n").first?.split(separator: " ") ?? []
        guard parts.count == 3, parts[0] == "ready", parts[1].hasPrefix("pid="),
            parts[2].hasPrefix("socket="), let pid = Int32(parts[1].dropFirst(4))
        else { return nil }
        self.pid = pid
        socket = String(parts[2].dropFirst(7))
    }
}

/// A row of `ps --json`.
struct DeviceRow: Equatable {
    static let states: Set<String> = [
        "starting", "ready", "late", "draining", "waiting", "failed", "stopped", "done",
        "unkillable",
    ]

    var name: String
    var state: String
    var asked: String
    /// 0 when there is none.
    var pid: Int32
    var incarnation: Int64
    var restarts: Int64
    var lastExit: String
    var reason: String

    /// - Throws: `Failure` when a member is missing, of another type, or too many.
    init(_ value: Value) throws {
        guard let map = value.map,
            Set(map.keys) == [
                "name", "state", "asked", "pid", "incarnation", "restarts", "lastExit", "reason",
                "build",
            ],
            let name = map["name"]?.text, let state = map["state"]?.text,
            Self.states.contains(state), let asked = map["asked"]?.text, let pid = map["pid"],
            pid.isNull || pid.int != nil,
            let incarnation = map["incarnation"]?.int, let restarts = map["restarts"]?.int,
            let lastExit = map["lastExit"]?.text, let reason = map["reason"]?.text
        else { throw Failure("not a row of ps: \(value.json())") }
        self.name = name
        self.state = state
        self.asked = asked
        self.pid = Int32(pid.int ?? 0)
        self.incarnation = incarnation
        self.restarts = restarts
        self.lastExit = lastExit
        self.reason = reason
    }
}

/// Where the executables are.
enum Programs {
    static let repository: String = {
        var path = #filePath.split(separator: "/")
        path.removeLast(3)
        return "/" + path.joined(separator: "/")
    }()

    static let folder =
        getenv("CONCENTRIC_BIN").map { String(cString: $0) } ?? "\(repository)/.build/debug"

    static var shell: String { "\(folder)/concentric" }
    static var kernel: String { "\(folder)/concentric-kernel" }

    /// Whether what is tested was built as it is released.
    static var isRelease: Bool { access("\(folder)/DeviceZoo", X_OK) != 0 }

    /// A release has no zoo; that of the debug build serves.
    static var zoo: String { test("DeviceZoo") }
    static var chaos: String { test("Chaos") }

    private static func test(_ program: String) -> String {
        let own = "\(folder)/\(program)"
        return access(own, X_OK) == 0 ? own : "\(repository)/.build/debug/\(program)"
    }
}

/// A device of the zoo: what it answers and how it behaves.
struct Animal {
    var name: String
    /// Names of the zoo's symbols, without `Zoo.`.
    var answers: [String] = []
    /// Words before the symbols; see the zoo's `Behaviour`.
    var behaviour: [String] = []
    var executable = Programs.zoo
    /// Other members of the manifest.
    var more: [String: Value] = [:]

    var manifest: String {
        let symbols = answers.map { Value.text("Zoo.\($0)") }
        var map: [String: Value] = [
            "name": .text(name), "executable": .text(executable), "provides": .array(symbols),
            "arguments": .array(behaviour.map { .text($0) } + symbols),
        ]
        map.merge(more) { $1 }
        return Value.map(map).json()
    }
}
