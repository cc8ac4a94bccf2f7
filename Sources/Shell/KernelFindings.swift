import DeviceKit
import Glibc
import Installation

/// The builds of the shell, the kernel and the devices that run.
enum VersionFindings {
    static func all(_ answer: RunningKernel.Answer) -> [Finding] {
        let own = "this shell is build \(Program.build), wire \(Program.wire)"
        return [.ok(.versions, own)] + others(answer)
    }

    private static func others(_ answer: RunningKernel.Answer) -> [Finding] {
        switch answer {
        case .absent: return [.ok(.versions, "no kernel of this name runs")]
        case .silent(let pid):
            let held = pid.map(ProcessTable.held) ?? ""
            return [
                .fail(
                    .versions, "\(answer.kernel) does not answer\(held)",
                    pid.map { "kill -CONT \($0), or kill -KILL \($0) and `concentric up`" }
                        ?? "see who serves its socket (`ss -lxp`), and end it")
            ]
        case .refused(_, let error):
            return [
                .fail(
                    .versions, "\(answer.kernel) does not tell: \(error.message)",
                    advice(on: error))
            ]
        case .running(let kernel):
            let build = kernel.host["build"]?.text ?? "unknown"
            let wire = kernel.host["wire"]?.int.map(String.init) ?? "?"
            let what = "the kernel (process \(kernel.pid)) is build \(build), wire \(wire)"
            return [
                .check(
                    build == Program.build, ok: .ok(.versions, what),
                    otherwise: .warn(.versions, what, "`concentric down` and `concentric up`"))
            ] + kernel.devices.map { device($0, build) }
        }
    }

    /// What to do about a kernel that refuses: it lives, and its devices work.
    static func advice(on error: KernelError) -> String {
        switch error.code {
        case .unsupported, .malformed: "build both from the same sources"
        case .overloaded: "wait, or end a client"
        case .kernelLost: "look again"
        case .denied: "ask from outside of the devices"
        default: "see `concentric log kernel`"
        }
    }

    private static func device(_ row: Value, _ kernel: String) -> Finding {
        let name = row["name"]?.text ?? "?"
        let state = row["state"]?.text ?? "?"
        let reason = row["reason"]?.text ?? ""
        let why = reason.isEmpty ? "" : " (\(reason))"
        if ["failed", "unkillable"].contains(state) {
            return .fail(
                .versions, "\(name) is \(state)\(why)",
                "see `concentric log \(name)`, then `concentric restart \(name)`")
        }
        guard let build = row["build"]?.text else {
            return .warn(.versions, "\(name) is \(state)\(why)", "see `concentric log \(name)`")
        }
        let what = "\(name) is \(state)\(why), build \(build)"
        return .check(
            build == kernel && state == "ready", ok: .ok(.versions, what),
            otherwise: .warn(
                .versions, what,
                build == kernel
                    ? "see `concentric log \(name)`"
                    : "build it anew and `concentric restart \(name)`"))
    }
}

/// What a kernel that is dead has left, and what stands in the way of the next one.
enum LeftoverFindings {
    static func all(
        name: String, folders: InstanceFolders, kernel answer: RunningKernel.Answer
    ) -> [Finding] {
        let kernel = answer.pid
        var findings: [Finding] = []
        if let path = try? SocketPath(name: name) {
            findings += [socket(path, answer), lock(path.lock, "of the socket", kernel)]
                .compactMap { $0 }
        }
        findings += [lock(folders.lock, "of the data", kernel)].compactMap { $0 }
        // A kernel that cannot be asked holds the lock of its data all the same.
        let owners = [kernel, FileLocks.holder(of: folders.lock)].compactMap { $0 }
        findings += processes(folders.data, owners)
        return findings.isEmpty
            ? [.ok(.leftovers, "nothing is left of an earlier kernel")] : findings
    }

    private static func socket(_ path: SocketPath, _ answer: RunningKernel.Answer) -> Finding? {
        guard case .absent(let error) = answer else { return nil }
        var status = stat()
        guard lstat(path.socket, &status) == 0 else { return nil }
        if error.code == .foreignServer {
            return .fail(.leftovers, error.message, error.advice ?? "stop it")
        }
        return .check(
            status.st_mode & S_IFMT == S_IFSOCK,
            ok: .warn(
                .leftovers, "\(path.socket) is left of a kernel that is gone",
                "nothing: the next `concentric up` removes it"),
            otherwise: .fail(
                .leftovers, "\(path.socket) is no socket and stands in the way", "remove it"))
    }

    private static func lock(_ path: String, _ what: String, _ kernel: Int32?) -> Finding? {
        guard let holder = FileLocks.holder(of: path) else { return nil }
        let who = "process \(holder)\(ProcessTable.named(holder))"
        if holder == kernel {
            return .ok(.leftovers, "the lock \(what) is held by the kernel (\(holder))")
        }
        return .fail(
            .leftovers, "the lock \(what) (\(path)) is held by \(who)",
            holder > 0 ? "end it: kill \(holder)" : "end whoever has \(path) open")
    }

    /// Processes of devices that keep their data here and whose kernel is gone; none where a kernel
    /// may be that is not known.
    private static func processes(_ data: String, _ owners: [Int32]) -> [Finding] {
        guard owners.allSatisfy({ $0 > 0 }) else { return [] }
        return ProcessTable.devices(data: data).filter { process in
            !ProcessTable.ancestors(of: process.pid).contains { owners.contains($0) }
        }.map { process in
            .warn(
                .leftovers,
                "process \(process.pid) of \(process.device) has no kernel"
                    + ProcessTable.held(process.pid),
                "kill -KILL \(process.pid)")
        }
    }
}
