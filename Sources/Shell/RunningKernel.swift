import DeviceKit

/// A kernel as it answers within a time, for verbs that also work without one.
struct RunningKernel {
    /// `Kernel.Host`; null for a kernel that does not have it.
    var host: Value
    /// The rows of `Kernel.Devices`.
    var devices: [Value]
    var pid: Int32

    enum Answer {
        case running(RunningKernel)
        /// Nobody serves the socket, or it cannot be reached.
        case absent(SocketError)
        /// The process that serves the socket says nothing; nil where it is not known.
        case silent(Int32?)
        /// It says why it does not tell, or went away.
        case refused(Int32?, KernelError)

        /// The process that is or may be the kernel.
        var pid: Int32? {
            switch self {
            case .running(let kernel): kernel.pid
            case .silent(let pid), .refused(let pid, _): pid
            case .absent: nil
            }
        }

        /// `the kernel (process 4711)`.
        var kernel: String {
            pid.map { "the kernel (process \($0))" } ?? "the kernel (its process is not known)"
        }
    }

    /// - Parameter patience: milliseconds for everything.
    @LoopActor
    static func ask(_ name: String, client: String, patience: UInt64) async -> Answer {
        let start = EventLoop.shared.now
        let pid: Int32?
        do throws(SocketError) {
            pid = try serving(try SocketPath(name: name))
        } catch {
            return .absent(error)
        }
        let kernel: Kernel
        do {
            kernel = try await Kernel.connect(
                instance: name, client: "concentric \(client)", patience: patience)
        } catch {
            return error.code == .unavailable ? .silent(pid) : .refused(pid, error)
        }
        defer { kernel.close() }
        var isLate = false
        let timer = EventLoop.shared.schedule(at: start + patience * 1_000_000) {
            isLate = true
            kernel.close()
        }
        defer { timer.cancel() }
        do {
            let host = try await region("Kernel.Host", of: kernel)
            let devices = try await region("Kernel.Devices", of: kernel)
            return .running(
                RunningKernel(host: host ?? .null, devices: devices?.array ?? [], pid: kernel.pid))
        } catch {
            return isLate ? .silent(pid) : .refused(pid, KernelError(error))
        }
    }

    /// The process that serves a socket: who accepts there, or holds its lock when too many wait to
    /// be accepted. Nil where it is not known, as for one outside of this container.
    @LoopActor
    private static func serving(_ path: SocketPath) throws(SocketError) -> Int32? {
        var pid: Int32?
        do throws(SocketError) {
            let socket = try UnixSocket.connect(path: path)
            pid = try Peer(of: socket.number).pid
        } catch {
            guard error.code == .busy else { throw error }
            pid = FileLocks.holder(of: path.lock)
        }
        return pid.flatMap { $0 > 0 ? $0 : nil }
    }

    /// The value of a region; nil if there is none of this name.
    @LoopActor
    private static func region(_ name: String, of kernel: Kernel) async throws -> Value? {
        do {
            try await kernel.follow(name) { _ in }
        } catch let error as KernelError where error.code == .unbound {
            return nil
        }
        return kernel.value(of: name)?.value
    }
}
