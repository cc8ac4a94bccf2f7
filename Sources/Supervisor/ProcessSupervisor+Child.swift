// The life of one process: its launch and its death.

internal import CLinux
internal import Glibc
internal import Installation
internal import UnixSocket

extension ProcessSupervisor {
    /// What the kernel asks of the socket of a cable, in each direction; the system may give less.
    private static let cableBuffer: Int32 = 1 << 20

    /// Between SIGXCPU, which ends whoever does not handle it, and the SIGKILL that cannot be
    /// mistaken for one from outside only because of the time used.
    private static let cpuGrace: UInt64 = 1

    /// Whether the seconds used may have been the limit: the system kills by samples, and accounts
    /// more finely.
    static func isUsedUp(_ seconds: Double, of limit: UInt64) -> Bool {
        seconds >= Double(limit) * 0.9 - 0.5
    }

    /// Whether what was resident leaves no room: a process without a page does not say that it was
    /// refused memory.
    static func isAtLimit(_ resident: UInt64, of limit: UInt64) -> Bool {
        Double(resident) >= Double(limit) * 0.9
    }

    func spawn(_ device: String, _ incarnation: Int, isCell: Bool) {
        guard let entry = entries[device] else { return }
        if !isCell { entries[device]?.isDirty = true }
        do throws(LaunchFailure) {
            try launch(entry, incarnation, isCell: isCell)
        } catch {
            // A want that lasts is tried again every second, and said once.
            if entry.launchFailure != error.message {
                entries[device]?.launchFailure = error.message
                entry.log.add(incarnation, .kernel, error.message)
                entry.log.flush()
            }
            post(
                .unspawned(
                    device: device, incarnation: incarnation, error: error.name,
                    detail: error.message))
        }
    }

    private func launch(
        _ entry: Entry, _ incarnation: Int, isCell: Bool
    ) throws(LaunchFailure) {
        var cable = try descriptors { () throws(SocketError) in try socketPair() }
        var life = try descriptors { () throws(SocketError) in try pipePair() }
        var out = try descriptors { () throws(SocketError) in try pipePair() }
        var err = try descriptors { () throws(SocketError) in try pipePair() }
        let pageFile = try StatusPage.makeFile()
        let page = try StatusPage(pageFile)
        let theirs = cable.takeSecond()
        let ours = cable.takeFirst()
        for number in [theirs.number, ours.number] {
            var size = Self.cableBuffer
            setsockopt(
                number, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        let lifeRead = life.takeFirst()
        let outWrite = out.takeSecond()
        let errWrite = err.takeSecond()
        let program = ProgramFile.identity(
            of: [entry.spec.executable] + entry.spec.arguments)
        let pid = try Self.start(
            entry.spec, incarnation,
            Inherited(
                out: outWrite.number, err: errWrite.number, cable: theirs.number,
                lifeline: lifeRead.number, page: pageFile.number))
        let handle = clx_pidfd_open(pid)
        guard handle >= 0 else {
            // Without a handle nobody would see its death: it must not live.
            let failure = LaunchFailure("cannot open the handle of a process", errno)
            Glibc.kill(-pid, SIGKILL)
            while waitpid(pid, nil, 0) < 0, errno == EINTR {}
            throw failure
        }
        let logs = [
            LogPump(out.takeFirst(), .out, incarnation, entry.log),
            LogPump(err.takeFirst(), .err, incarnation, entry.log),
        ]
        children.append(
            ChildProcess(
                entry.spec, incarnation: incarnation, isCell: isCell, pid: pid,
                handle: OwnedDescriptor(owning: handle), lifeline: life.takeSecond(), page: page,
                logs: logs, ended: { [weak self] in self?.ended($0) }))
        if !isCell {
            entries[entry.spec.name]?.starts += 1
            entries[entry.spec.name]?.incarnation = incarnation
        }
        entries[entry.spec.name]?.launchFailure = ""
        delegate?.launched(
            entry.spec.name, incarnation: incarnation, isCell: isCell, pid: pid, program: program,
            cable: ours)
    }

    private func descriptors(
        _ make: () throws(SocketError) -> DescriptorPair
    ) throws(LaunchFailure) -> DescriptorPair {
        do throws(SocketError) {
            return try make()
        } catch {
            throw LaunchFailure(error.description, error.errno)
        }
    }

    private struct Inherited {
        var out: Int32
        var err: Int32
        var cable: Int32
        var lifeline: Int32
        var page: Int32
    }

    private static func start(
        _ spec: DeviceSpec, _ incarnation: Int, _ inherited: Inherited
    ) throws(LaunchFailure) -> pid_t {
        var step: Int32 = 0
        // What descends from the process inherits it, and is known by it.
        let own = "\(ProcessTable.incarnation)=\(incarnation)"
        let variables = spec.environment.filter { !$0.hasPrefix("\(ProcessTable.incarnation)=") }
        let result = withCStrings([spec.executable] + spec.arguments) { arguments in
            withCStrings(variables + [own]) { environment in
                withCStrings([spec.executable] + (spec.directory.map { [$0] } ?? [])) { paths in
                    withUnsafeMutablePointer(to: &step) { step in
                        var launch = clx_launch()
                        launch.path = UnsafePointer(paths[0])
                        launch.argv = UnsafePointer(arguments)
                        launch.envp = UnsafePointer(environment)
                        launch.directory = UnsafePointer(paths[1])
                        launch.out = inherited.out
                        launch.err = inherited.err
                        launch.cable = inherited.cable
                        launch.lifeline = inherited.lifeline
                        launch.page = inherited.page
                        set(&launch, spec.limits)
                        launch.failed_step = step
                        return clx_launch(&launch)
                    }
                }
            }
        }
        guard result > 0 else { throw LaunchFailure(spec, step: step, errno: -result) }
        return result
    }

    private static func set(_ launch: inout clx_launch, _ limits: DeviceSpec.Limits) {
        if let inherited = HostLimits.inherited {
            let hard = min(limits.nofile ?? inherited.hard, inherited.hard)
            let soft = limits.nofile == nil ? inherited.soft : hard
            launch.nofile = clx_limit(is_set: 1, soft: soft, hard: hard)
        }
        if let memory = limits.memory {
            launch.memory = clx_limit(is_set: 1, soft: memory, hard: memory)
        }
        if let cpu = limits.cpu {
            let hard = cpu.addingReportingOverflow(cpuGrace)
            launch.cpu = clx_limit(
                is_set: 1, soft: cpu, hard: hard.overflow ? cpu : hard.partialValue)
        }
        if let core = limits.core { launch.core = clx_limit(is_set: 1, soft: core, hard: core) }
    }

    // MARK: The death

    /// The handle says that the process is dead. The order keeps what it had said, and its number
    /// from strangers.
    private func ended(_ child: ChildProcess) {
        delegate?.readDry(child.device, incarnation: child.incarnation)
        let load = delegate?.open(child.device, incarnation: child.incarnation) ?? ProcessLoad()
        let page = child.readPage()
        child.signalGroup(SIGKILL)
        let logs = child.logs
        guard let result = child.reap() else { return }
        children.removeAll { $0 === child }
        orphans?.look()
        if !child.isCell { entries[child.device]?.errorLines = logs.flatMap(\.tail) }
        post(
            .died(
                device: child.device, incarnation: child.incarnation,
                exit: exitReason(child, result), page: page, load: load))
    }

    private func exitReason(_ child: ChildProcess, _ result: clx_exit) -> ExitReason {
        guard result.signal != 0 else { return ExitReason(code: result.code) }
        let limits = entries[child.device]?.spec.limits ?? DeviceSpec.Limits()
        var reason = ExitReason(signal: SignalName.of(result.signal))
        switch result.signal {
        case SIGKILL:
            let used = Double(result.cpu_microseconds) / 1e6
            reason.processorTime = limits.cpu.map { Self.isUsedUp(used, of: $0) } ?? false
            // A kill of the kernel's own needs no stroke to explain it.
            reason.memory =
                !reason.processorTime && policy.cause(child.device, child.incarnation) == nil
                && memoryKiller.takeStroke()
        case SIGXCPU: reason.processorTime = limits.cpu != nil
        case SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS:
            guard let memory = limits.memory else { break }
            reason.memory =
                child.ranOutOfMemory || Self.isAtLimit(result.resident_bytes, of: memory)
        default: break
        }
        return reason
    }

    func buried(_ device: String, _ incarnation: Int, _ death: Death, isCell: Bool) {
        if !isCell {
            entries[device]?.lastExit = death.description
            entries[device]?.isDirty = true
        }
        entries[device]?.log.add(
            incarnation, .kernel, "\(isCell ? "cell ended" : "ended"): \(death)")
        entries[device]?.log.flush()
        let settled = verdicts
        verdicts.removeAll(keepingCapacity: true)
        delegate?.died(
            device, incarnation: incarnation, begun: death.begun, running: death.running,
            verdicts: settled, death: death)
    }
}

/// Calls `body` with a vector of C strings that ends with a null pointer, as execve(2) takes it.
private func withCStrings<Result>(
    _ strings: [String],
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = strings.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
