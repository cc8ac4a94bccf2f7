import Driver
import Kernel
import UnixSocket
import Wire

/// One connection of the kernel: the socket, and the driver that understands it.
@LoopActor
final class Plug: ConnectionDelegate {
    let driver: CableDriver
    /// The device whose process holds the other end; nil for a client.
    let device: String?
    let incarnation: Int
    /// Monotonic nanoseconds of the last bytes that came.
    private(set) var lastHeard: UInt64 = 0
    private var halfFrame = HalfFrame()
    private var awaitsRest = false
    private var awaitsProgress = false
    /// So much has waited for the peer that its memory is worth giving back.
    private(set) var wasHeavy = false
    private let client: Int32
    /// What of it the account of all clients knows.
    private var unread = 0
    private let house: House
    private var connection: Connection?
    /// What timers hold of it. A weak reference, once made, would slow every later use down.
    private let hold = Hold()

    private final class Hold {
        /// Nil once the connection has ended.
        var plug: Plug?
    }

    init(
        _ descriptor: consuming OwnedDescriptor, driver: CableDriver, device: String?,
        incarnation: Int, house: House, client: Int32 = 0
    ) {
        self.client = client
        self.driver = driver
        self.device = device
        self.incarnation = incarnation
        self.house = house
        driver.owner = self
        let connection = Connection(descriptor, delegate: self)
        self.connection = connection
        hold.plug = self
        connection.onFlush = { [hold] in hold.plug?.handOver() }
        connection.onDrained = { [hold] in hold.plug?.drained() }
    }

    private func drained() {
        connection?.readingPaused = false
        driver.caughtUp()
        count()
        if wasHeavy { house.giveMemoryBack() }
        wasHeavy = false
    }

    func connection(_ connection: Connection, received bytes: UnsafeRawBufferPointer) -> Int {
        lastHeard = EventLoop.shared.now
        house.turn()
        let count = driver.receive(bytes)
        house.arm()
        slowDown()
        expectRest(UnsafeRawBufferPointer(rebasing: bytes[count...]), isNew: count > 0)
        return count
    }

    /// Whose connection it is, for people.
    var who: String {
        let name = driver.peer.map { "\($0.name) " } ?? ""
        return "\(name)(process \(client))"
    }

    /// What would complete a frame that was left half written is the next frame, so everything that
    /// such a device answers vanishes.
    private func expectRest(_ rest: UnsafeRawBufferPointer, isNew: Bool) {
        guard device != nil, connection != nil else { return }
        halfFrame.arrived(rest, isNew: isNew, at: house.hub.seen)
        if halfFrame.isThere, !awaitsRest { awaitRest() }
    }

    private func awaitRest() {
        awaitsRest = true
        let next = EventLoop.shared.now + DriverLimits.frameTime
        EventLoop.shared.schedule(at: next) { [hold] in hold.plug?.judgeHalf() }
    }

    private func judgeHalf() {
        awaitsRest = false
        guard connection != nil, halfFrame.isThere, let device else { return }
        house.turn()
        // Who is stopped cannot write on.
        if house.isHeld(device, incarnation) { halfFrame.forgive(at: house.hub.seen) }
        guard let why = halfFrame.complaint(at: house.hub.seen) else { return awaitRest() }
        driver.distrust(why)
    }

    /// A client that asks and does not read is asked to wait; a device's replies are always read.
    private func slowDown() {
        guard device == nil, let connection, !connection.readingPaused,
            connection.pendingBytes > DriverLimits.backlog
        else { return }
        connection.readingPaused = true
        wasHeavy = true
        watchProgress()
    }

    /// A client that takes nothing of what waits for it is given up in time, whether it asks or
    /// only watches. The time is waited for in steps: one in which the kernel did not run counts as
    /// one of them.
    private func watchProgress() {
        guard device == nil, !awaitsProgress, let connection else { return }
        awaitsProgress = true
        judge(since: connection.lastProgress, steps: 5)
    }

    private func judge(since progress: UInt64, steps: UInt64) {
        let next = EventLoop.shared.now + house.options.patience / 5
        EventLoop.shared.schedule(at: next) { [hold] in
            hold.plug?.judgeProgress(since: progress, steps: steps)
        }
    }

    private func judgeProgress(since progress: UInt64, steps: UInt64) {
        guard let connection else { return }
        guard connection.pendingBytes > 0 else {
            awaitsProgress = false
            return
        }
        if connection.lastProgress != progress {
            judge(since: connection.lastProgress, steps: 5)
        } else if steps > 1 {
            judge(since: progress, steps: steps - 1)
        } else {
            giveUp(connection)
        }
    }

    private func giveUp(_ connection: Connection) {
        cutOff(
            because: "\(connection.pendingBytes) bytes wait for it, and none was taken for "
                + "\(house.options.patience / 1_000_000) ms")
    }

    /// Ends it, and says why.
    func cutOff(because reason: String) {
        house.refused(self, reason)
        cutOff()
    }

    // MARK: - What all clients leave unread

    /// Something waits for a client.
    var hasUnread: Bool { unread > 0 }

    /// Tells the account of all clients what waits for this one now.
    private func count() {
        guard device == nil else { return }
        let now = connection.map { $0.pendingBytes + driver.heldBytes } ?? 0
        guard now != unread else { return }
        house.unread.changed(by: now - unread)
        unread = now
    }

    /// Its part of that, if there is any.
    func share(of number: Int) -> Unread.Share? {
        count()
        guard let connection, unread > 0 else { return nil }
        return Unread.Share(client: number, bytes: unread, progress: connection.lastProgress)
    }

    /// Ends it at a moment at which nothing has come, so that the hub does not know the time yet.
    private func cutOff() {
        close()
        house.turn()
        house.ended(self)
        house.arm()
    }

    func connection(_ connection: Connection, closed reason: CloseReason) {
        self.connection = nil
        hold.plug = nil
        count()
        driver.closed()
        house.turn()
        house.ended(self)
        house.arm()
    }

    /// Who connects and says nothing has no place here. The time is waited for in steps: one in
    /// which the kernel did not run counts as one of them, and what came meanwhile is read before
    /// the next.
    func awaitGreeting(steps: UInt64 = 5) {
        let next = EventLoop.shared.now + HouseLimits.greeting / 5
        EventLoop.shared.schedule(at: next) { [hold] in
            guard let plug = hold.plug, plug.driver.peer == nil else { return }
            guard steps <= 1 else { return plug.awaitGreeting(steps: steps - 1) }
            plug.cutOff(
                because: "it did not say hello within \(HouseLimits.greeting / 1_000_000_000) s")
        }
    }

    /// Writes what waits; whether all of it has left.
    func flush() -> Bool {
        handOver()
        connection?.flushNow()
        count()
        return (connection?.pendingBytes ?? 0) == 0
    }

    /// Hands over everything that the peer has written, its end included.
    func readDry() {
        connection?.readAll()
    }

    /// Ends the connection without a word.
    func close() {
        connection?.close()
        connection = nil
        hold.plug = nil
        count()
        driver.closed()
    }
}

extension Plug: @LoopActor DriverOwner {
    func welcomed(_ driver: CableDriver) {}

    func ready(_ driver: CableDriver) {
        house.ready(self)
    }

    func drained(_ driver: CableDriver) {
        house.drained(self)
    }

    /// What was written still leaves; then the connection ends.
    func refused(_ driver: CableDriver, _ reason: String) {
        _ = flush()
        house.refused(self, reason)
        close()
        house.ended(self)
    }

    func wrote(_ driver: CableDriver) {
        guard let connection else { return driver.taken() }
        // What is written in a turn goes over in one piece at its end.
        if !connection.fillLater() || driver.output.count >= DriverLimits.gathered { handOver() }
    }

    /// Hands to the connection what the driver has written.
    private func handOver() {
        connection?.send(driver.output.written)
        driver.taken()
        count()
    }

    func backlog(_ driver: CableDriver) -> Int {
        let pending = connection?.pendingBytes ?? 0
        if pending > HouseLimits.trimmed { wasHeavy = true }
        if pending > 0 { watchProgress() }
        return pending
    }
}
