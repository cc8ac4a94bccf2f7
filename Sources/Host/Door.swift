import Control
import Driver
import Glibc
import Installation
import Supervisor
import UnixSocket
import Wire

/// The bounds of the kernel's process.
enum HouseLimits {
    /// Clients that may be connected at once, if there are descriptors for them.
    static let clients = 4_096
    /// Bytes that a connection takes which has read all that it was sent, at most.
    static let connectionBytes = 128 << 10
    /// Nanoseconds in which a connection must say hello.
    static let greeting: UInt64 = 10_000_000_000
    /// Nanoseconds that an ending kernel waits for clients to take their last answers, and between
    /// two looks at them.
    static let parting: UInt64 = 500_000_000
    static let partingLook: UInt64 = 5_000_000
    /// Bytes that waited for a client, above which memory is given back to the system when they are
    /// gone.
    static let trimmed = 1 << 20
    /// Nanoseconds until then, so that many together cost one time.
    static let trimPause: UInt64 = 500_000_000
    /// Bytes of flows, of which three quarters are gone again, after which it is given back, too,
    /// and nanoseconds between two times.
    static let trimmedFlows = 64 << 20
    static let trimInterval: UInt64 = 1_000_000_000
    /// Nanoseconds without progress, after which a client that leaves something unread is cut off.
    static let patience: UInt64 = 30_000_000_000
    /// Bytes that all clients together may leave unread, and nanoseconds from the moment at which
    /// they are more to that at which some are cut off.
    static let unread = 512 << 20
    static let unreadLook: UInt64 = 1_000_000
    /// Nanoseconds in which so many complaints about clients are told as they come; the others are
    /// counted and told at their end.
    static let complaintPause: UInt64 = 1_000_000_000
    static let complaintsAtOnce = 8
}

/// Why the kernel does not start.
struct StartError: Error, CustomStringConvertible {
    var description: String
}

/// How many clients there is room for, and what is said about the others.
@LoopActor
final class Door {
    /// Clients at once.
    let room: Int
    private let descriptors: Int
    private var complaints = Complaints()
    private var timer: Timer?

    /// - Throws: `StartError` when the limit of descriptors does not even suffice for the devices.
    init(devices: Int, seats: Int) throws(StartError) {
        descriptors = DescriptorLimits.available
        let reserve = DescriptorLimits.reserve(devices: devices, seats: seats)
        let need = DescriptorLimits.need(devices: devices, seats: seats)
        guard descriptors >= need else {
            throw StartError(
                description: "the limit of \(descriptors) open files is too small for \(devices) "
                    + "devices with \(seats) processes, which need \(need); raise it with "
                    + "`ulimit -Hn \(need)` or more"
            )
        }
        room = min(HouseLimits.clients, descriptors - reserve)
    }

    /// Tells a client why it is not let in, as an answer to its hello. What does not fit into the
    /// empty buffer of a new socket is not waited for.
    func turnAway(_ socket: borrowing OwnedDescriptor) {
        let isFull = room == HouseLimits.clients
        let message =
            "\(room) clients are connected to this kernel, more are not let in: end one"
            + (isFull ? "" : ", or start it with a limit of open files over \(descriptors)")
        let writer = CBORWriter(capacity: 512)
        writer.refused(code: KernelError.Code.overloaded.rawValue, message: message)
        let bytes = writer.written
        _ = send(
            socket.number, bytes.baseAddress, bytes.count,
            Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        say("a client was turned away: \(room) are connected")
    }

    /// Complains, but keeps the log readable however many come.
    func say(_ line: String) {
        complaints.add(line, now: EventLoop.shared.now).forEach(complain)
        wait()
    }

    /// Says what is still to be said: nobody is told later.
    func close() {
        timer?.cancel()
        timer = nil
        complaints.rest(now: EventLoop.shared.now, isLast: true).forEach(complain)
    }

    private func wait() {
        guard timer == nil, let due = complaints.due else { return }
        timer = EventLoop.shared.schedule(at: due) { [weak self] in
            guard let self else { return }
            timer = nil
            complaints.rest(now: EventLoop.shared.now).forEach(complain)
            wait()
        }
    }
}

extension House: ListenerDelegate {
    func listener(
        _ listener: Listener, accepted socket: consuming OwnedDescriptor,
        from peer: UnixSocket.Peer
    ) {
        guard clients.count < door.room else { return door.turnAway(socket) }
        let driver = CableDriver(hub: hub, device: nil, incarnation: 0, pid: getpid())
        let plug = Plug(
            socket, driver: driver, device: nil, incarnation: 0, house: self,
            client: peer.pid)
        clients[ObjectIdentifier(plug)] = plug
        plug.awaitGreeting()
    }

    func listener(
        _ listener: Listener, refused peer: UnixSocket.Peer?, because error: SocketError
    ) {
        door.say("a connection was refused: \(error)")
    }

    func listener(_ listener: Listener, lost error: SocketError) {
        complain("new clients do not find this kernel: \(error)")
    }

    func listener(_ listener: Listener, unwatched error: SocketError) {
        complain("a removed socket is not put back: \(error)")
    }

    func listenerReturned(_ listener: Listener) {
        complain("the socket was removed and stands again: \(listener.path)")
    }
}
