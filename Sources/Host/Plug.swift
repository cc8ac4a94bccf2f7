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
    private let house: House
    private var connection: Connection?

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
        connection.onDrained = { [weak self] in
            guard let self else { return }
            self.connection?.readingPaused = false
            self.driver.caughtUp()
            if self.wasHeavy { self.house.giveMemoryBack() }
            self.wasHeavy = false
        }
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
        EventLoop.shared.schedule(at: next) { [weak self] in self?.judgeHalf() }
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
        let next = EventLoop.shared.now + HouseLimits.patience / 5
        EventLoop.shared.schedule(at: next) { [weak self] in
            guard let self, let connection else { return }
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
    }

    private func giveUp(_ connection: Connection) {
        house.refused(
            self,
            "\(connection.pendingBytes) bytes wait for it, and none was taken for "
                + "\(HouseLimits.patience / 1_000_000_000) s")
        close()
        house.ended(self)
    }

    func connection(_ connection: Connection, closed reason: CloseReason) {
        self.connection = nil
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
        EventLoop.shared.schedule(at: next) { [weak self] in
            guard let self, connection != nil, driver.peer == nil else { return }
            if steps > 1 { awaitGreeting(steps: steps - 1) } else { turnAway() }
        }
    }

    private func turnAway() {
        close()
        house.ended(self)
    }

    /// Writes what waits; whether all of it has left.
    func flush() -> Bool {
        connection?.flushNow()
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
        wrote(driver)
        connection?.flushNow()
        house.refused(self, reason)
        close()
        house.ended(self)
    }

    func wrote(_ driver: CableDriver) {
        connection?.send(driver.output.written)
        driver.output.reset()
    }

    func backlog(_ driver: CableDriver) -> Int {
        let pending = connection?.pendingBytes ?? 0
        if pending > HouseLimits.trimmed { wasHeavy = true }
        if pending > 0 { watchProgress() }
        return pending
    }
}
