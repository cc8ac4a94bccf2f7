import DeviceKit
import Glibc

/// A kernel with the application's devices and the post, in a folder of its own.
@LoopActor
final class Instance {
    let folder: String
    /// Folders of files that look like photos by their names; the last one is empty.
    private(set) var photos: [[String]] = []
    private let bin: String
    private var kernel: Kernel?
    private var clients: [Kernel] = []
    /// Whether somebody else made the folder, and removes it.
    private let isGiven: Bool

    nonisolated var data: String { "\(folder)/data" }
    nonisolated var empty: String { "\(folder)/photos/empty" }

    init() throws {
        let own = Files.target(of: "/proc/self/exe")
        bin = getenv("CONCENTRIC_BIN").map { String(cString: $0) } ?? Files.parent(of: own)
        if let given = getenv("CHAOS_FOLDER") {
            folder = String(cString: given)
            isGiven = true
        } else {
            let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            var template = Array("\(place)/chaos-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw Failure("no temporary folder") }
            folder = String(
                decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            isGiven = false
        }
        setenv("XDG_RUNTIME_DIR", folder, 1)
        try makeDevices(post: own)
        for number in 0..<4 {
            let place = "\(folder)/photos/\(number)"
            photos.append(
                try (1...(number + 2)).map { try Files.write("", to: "\(place)/\($0).jpg") })
        }
        try Files.makeFolder(empty)
    }

    private func makeDevices(post: String) throws {
        var root = Files.parent(of: Files.target(of: "\(bin)/concentric-kernel", orItself: true))
        while access("\(root)/devices/Compute/device.json", R_OK) != 0 {
            guard root.count > 1 else { throw Failure("no devices above \(bin): build first") }
            root = Files.parent(of: root)
        }
        try Files.makeFolder("\(folder)/devices")
        for name in ["Compute", "Circuit", "Infrastructure"] {
            symlink("\(root)/devices/\(name)", "\(folder)/devices/\(name)")
        }
        _ = try Files.write(
            Post.manifest(executable: post), to: "\(folder)/devices/post/device.json")
    }

    /// Starts a kernel on the data, and returns a client of it.
    func start() async throws -> Kernel {
        // Not through a pipe, which the kernel could hold open.
        _ = Files.output(
            of: "'\(bin)/concentric' up --detach --name chaos --data '\(data)' "
                + "--devices '\(folder)/devices' >'\(folder)/up' 2>&1")
        let line = Files.text("\(folder)/up")
        guard line.hasPrefix("ready "),
            let word = line.split(separator: " ").first(where: { $0.hasPrefix("pid=") })
        else { throw Failure("the kernel did not start: \(line)") }
        // For Scripts/chaos, which ends what this process could not.
        _ = try Files.write("\(word.dropFirst(4))\n", to: "\(folder)/kernel.pid")
        let control = try await connect("control")
        kernel = control
        for region in ["Kernel.Devices", "Kernel.Load", "SlideshowState"] {
            try await control.follow(region) { _ in }
        }
        return control
    }

    /// Another client, which sees the library and the errors.
    func connect(_ name: String) async throws -> Kernel {
        let client = try await Kernel.connect(instance: "chaos", client: name)
        try await client.follow("LibraryState") { _ in }
        try await client.follow("Kernel.Errors") { _ in }
        clients.append(client)
        return client
    }

    /// Ends the kernel in order.
    func stop() async {
        guard let kernel else { return }
        let pid = kernel.pid
        _ = try? await kernel.call("Kernel.shutdown", .null)
        for client in clients { client.close() }
        clients = []
        self.kernel = nil
        for _ in 0..<3_000 where Files.isAlive(pid) {
            try? await Program.pause(milliseconds: 5)
        }
    }

    /// Ends the kernel at once, and with it the devices.
    func abandon() {
        if let pid = kernel?.pid, pid > 1, Files.isAlive(pid) { kill(pid, SIGKILL) }
        kernel = nil
        remove()
    }

    func remove() {
        if kernel != nil { abandon() }
        if !isGiven { _ = Files.output(of: "rm -rf '\(folder)'") }
    }
}

/// Small files and processes.
enum Files {
    static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    static func target(of link: String, orItself: Bool = false) -> String {
        let path = realpath(link, nil)
        defer { free(path) }
        return path.map { String(cString: $0) } ?? (orItself ? link : "")
    }

    static func makeFolder(_ path: String) throws {
        if access(path, X_OK) == 0 { return }
        try makeFolder(parent(of: path))
        guard mkdir(path, 0o700) == 0 else { throw Failure("\(path) cannot be made") }
    }

    /// Returns the path.
    static func write(_ text: String, to path: String) throws -> String {
        try makeFolder(parent(of: path))
        guard let file = fopen(path, "w") else { throw Failure("\(path) cannot be written") }
        fputs(text, file)
        fclose(file)
        return path
    }

    static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&block, 1, block.count, file)
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func names(in folder: String) -> [String] {
        output(of: "ls -A '\(folder)' 2>/dev/null").split(separator: "\n").map(String.init)
    }

    /// What a command prints.
    static func output(of command: String) -> String {
        guard let stream = popen(command, "r") else { return "" }
        defer { pclose(stream) }
        var bytes: [UInt8] = []
        while true {
            let byte = fgetc(stream)
            guard byte >= 0 else { break }
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The parent of a process; nil when it is dead.
    static func parent(ofProcess pid: Int32) -> Int32? {
        let text = text("/proc/\(pid)/stat")
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 1, fields[0] != "Z", fields[0] != "X" else { return nil }
        return Int32(fields[1])
    }

    static func isAlive(_ pid: Int32) -> Bool { parent(ofProcess: pid) != nil }
}
