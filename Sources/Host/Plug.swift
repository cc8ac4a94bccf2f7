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
    /// Seen time since which the last frame is not whole; `UInt64.max` if it is.
    private var halfSince = UInt64.max
    private var awaitsRest = false
    private let house: House
    private var connection: Connection?

    init(
        _ descriptor: consuming OwnedDescriptor, driver: CableDriver, device: String?,
        incarnation: Int, house: House
    ) {
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
        }
    }

    func connection(_ connection: Connection, received bytes: UnsafeRawBufferPointer) -> Int {
        lastHeard = EventLoop.shared.now
        house.turn()
        let count = driver.receive(bytes)
        house.arm()
        slowDown()
        expectRest(whole: count, of: bytes.count)
        return count
    }

    /// A frame is written at once. What would complete one that was left half written is the next
    /// frame, so everything that such a device answers vanishes.
    private func expectRest(whole: Int, of count: Int) {
        guard device != nil, connection != nil else { return }
        if whole == count {
            halfSince = .max
        } else if whole > 0 || halfSince == .max {
            halfSince = house.hub.seen
            if !awaitsRest { awaitRest() }
        }
    }

    private func awaitRest() {
        awaitsRest = true
        let next = EventLoop.shared.now + DriverLimits.frameTime
        EventLoop.shared.schedule(at: next) { [weak self] in self?.judgeHalf() }
    }

    private func judgeHalf() {
        awaitsRest = false
        guard connection != nil, halfSince != .max, let device else { return }
        house.turn()
        // Who is stopped cannot write on.
        if house.isStopped(device) { halfSince = house.hub.seen }
        guard house.hub.seen - min(house.hub.seen, halfSince) >= DriverLimits.frameTime else {
            return awaitRest()
        }
        driver.distrust("a frame was not whole after 10 s")
    }

    /// A client that asks and does not read is asked to wait; a device's replies are always read.
    private func slowDown() {
        guard device == nil, let connection, !connection.readingPaused,
            connection.pendingBytes > DriverLimits.backlog
        else { return }
        connection.readingPaused = true
        EventLoop.shared.schedule(at: EventLoop.shared.now + Self.patience) { [weak self] in
            self?.judge()
        }
    }

    /// A client that has taken nothing for all of the patience is given up.
    private func judge() {
        guard let connection, connection.readingPaused else { return }
        guard EventLoop.shared.now >= connection.lastProgress + Self.patience else {
            EventLoop.shared.schedule(at: connection.lastProgress + Self.patience) {
                [weak self] in self?.judge()
            }
            return
        }
        house.refused(self, "\(connection.pendingBytes) bytes wait and none was taken for 30 s")
        close()
        house.ended(self)
    }

    /// Nanoseconds without progress.
    private static let patience: UInt64 = 30_000_000_000

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
        connection?.pendingBytes ?? 0
    }
}
