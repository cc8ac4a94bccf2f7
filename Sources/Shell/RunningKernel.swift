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
        /// The process that serves the socket says nothing.
        case silent(Int32)
        /// It is of another build.
        case refused(KernelError)
    }

    /// - Parameter patience: milliseconds for everything.
    @LoopActor
    static func ask(_ name: String, client: String, patience: UInt64) async -> Answer {
        let start = EventLoop.shared.now
        var pid: Int32 = 0
        do throws(SocketError) {
            let socket = try UnixSocket.connect(path: try SocketPath(name: name))
            pid = try Peer(of: socket.number).pid
        } catch {
            if error.code == .busy { return .silent(pid) }
            return .absent(error)
        }
        let kernel: Kernel
        do {
            kernel = try await Kernel.connect(
                instance: name, client: "concentric \(client)", patience: patience)
        } catch {
            return error.code == .unavailable ? .silent(pid) : .refused(error)
        }
        defer { kernel.close() }
        let timer = EventLoop.shared.schedule(at: start + patience * 1_000_000) { kernel.close() }
        defer { timer.cancel() }
        func region(_ name: String) async throws -> Value? {
            do {
                try await kernel.follow(name) { _ in }
            } catch let error as KernelError where error.code == .unbound {
                return nil
            }
            return kernel.value(of: name)?.value
        }
        do {
            let host = try await region("Kernel.Host")
            let devices = try await region("Kernel.Devices")
            return .running(
                RunningKernel(host: host ?? .null, devices: devices?.array ?? [], pid: kernel.pid))
        } catch {
            return .silent(pid)
        }
    }
}
