import DeviceKit
import Glibc
import Installation

/// The log files of a folder.
enum LogFolder {
    /// The devices that have a log, the kernel among them; of one with several processes, each.
    static func devices(in folder: String) -> [String] {
        let names = FolderEntries.names(in: folder).compactMap { name -> String? in
            for end in [".log", ".log.1"] where name.hasSuffix(end) {
                return SeatName.name(ofFile: String(name.dropLast(end.count)))
            }
            return nil
        }
        return Set(names).sorted()
    }
}

/// `log`: what devices and the kernel have said, by time; also when no kernel runs.
@LoopActor
enum LogVerb {
    /// Milliseconds for a kernel to say where its logs are.
    private static let patience: UInt64 = 2_000
    /// The lines before those that follow.
    private static let linesBefore = 10

    static func run(_ arguments: Arguments) async throws {
        let device = arguments.words.first
        let follows = arguments.has("-f") || arguments.has("--follow")
        var lines = follows ? linesBefore : Int.max
        if let text = arguments.option("--lines") {
            guard let number = Int(text), number >= 0 else {
                throw UsageError(message: "--lines wants a whole number from 0, not \(text)")
            }
            lines = number
        }
        let source = await source(arguments)
        if let device, !source.devices.contains(where: { SeatName.means(device, $0) }) {
            throw KernelError(
                .unbound,
                "there is no device \(device); there are \(source.devices.joined(separator: ", "))",
                outcome: .none)
        }
        let present = LogFolder.devices(in: source.folder)
        guard !present.isEmpty || follows else {
            throw KernelError(
                .unavailable,
                "there is no log in \(source.folder): nothing has run with this data; say --name "
                    + "or --data", outcome: .none)
        }
        let wants = { (name: String) in device.map { SeatName.means($0, name) } ?? true }
        let tails = present.filter(wants).map { LogTail(device: $0, folder: source.folder) }
        var entries = tails.map { $0.readAll() }
        if !follows { entries += tails.map { $0.finish() } }
        let asJSON = arguments.isJSON
        let print = { (entries: [LogEntry]) in
            for entry in entries { Output.line(asJSON ? entry.json : entry.line) }
        }
        print(LogEntry.merged(entries).suffix(lines))
        guard follows else { return }
        let follower = try LogFollower(
            folder: source.folder, tails: tails, wants: wants, print: print)
        Readers.watch()
        // Nothing ends it but a signal and the end of its reader.
        _ = await Ended().wait()
        follower.end()
    }

    private struct Source {
        var folder: String
        /// The devices that there are, with or without a log, and `kernel`.
        var devices: [String]
    }

    /// Where a kernel that says nothing keeps its logs, by its command line.
    private static func logs(of kernel: Int32?, _ arguments: Arguments) -> String {
        InstanceFolders(name: arguments.name, given: kernel.flatMap(ProcessTable.data)).logs
    }

    /// The folder that the command line names, else that of the kernel, else that which a kernel of
    /// this name would take.
    private static func source(_ arguments: Arguments) async -> Source {
        var folder = InstanceFolders(name: arguments.name, given: arguments.option("--data")).logs
        var names: Set<String> = [Manifest.kernelName]
        var devices: String?
        if arguments.option("--data") == nil {
            let answer = await RunningKernel.ask(
                arguments.name, client: "log", patience: patience)
            switch answer {
            case .running(let kernel):
                folder = kernel.host["logs"]?.text ?? folder
                devices = kernel.host["devices"]?.text
                names.formUnion(kernel.devices.compactMap { $0["name"]?.text })
            case .silent(let pid):
                folder = logs(of: pid, arguments)
                Output.complain("log: \(answer.kernel) does not answer; this is \(folder)")
            case .refused(let pid, let error):
                folder = logs(of: pid, arguments)
                Output.complain(
                    "log: \(answer.kernel) says nothing (\(error.message)); this is \(folder)")
            case .absent: break
            }
        }
        names.formUnion(LogFolder.devices(in: folder))
        // A device that has never started has no log yet, and can be followed all the same.
        let search = try? ManifestSearch(
            given: devices, environment: InstanceFolders.variable("CONCENTRIC_DEVICES"),
            executable: InstanceFolders.program)
        for case .success(let found) in search?.scan() ?? [] where found.manifest.role == .device {
            names.formUnion(found.manifest.seats)
        }
        return Source(folder: folder, devices: names.sorted())
    }
}
