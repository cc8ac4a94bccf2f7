import Control
import Driver
import Kernel
import Values
import Wire

/// One seed: a stream of frames, some of them spoilt, for each reader of peer bytes.
struct Fuzz {
    struct Result {
        var messages = 0
        var refused = 0
        var cables = 0
        var frames: UInt64 = 0

        static func += (left: inout Result, right: Result) {
            left.messages += right.messages
            left.refused += right.refused
            left.cables += right.cables
            left.frames += right.frames
        }
    }

    let seed: UInt64
    private var chance: Chance

    init(seed: UInt64) {
        self.seed = seed
        chance = Chance(state: seed)
    }

    func run() -> Result {
        var copy = self
        return copy.all()
    }

    private mutating func all() -> Result {
        var result = Result()
        for _ in 0..<20 {
            read(random(Int.random(in: 0...200, using: &chance)), &result)
            read(mutated(message()), &result)
        }
        drive(device: true, &result)
        drive(device: false, &result)
        return result
    }

    // MARK: - Readers

    private func read(_ bytes: [UInt8], _ result: inout Result) {
        bytes.withUnsafeBytes { raw in
            for start in 0...min(4, raw.count) {
                let body = UnsafeRawBufferPointer(rebasing: raw[start...])
                let peer = (try? PeerMessage(body)) != nil
                let kernel = (try? KernelMessage(body)) != nil
                result.messages += (peer ? 1 : 0) + (kernel ? 1 : 0)
                result.refused += (peer ? 0 : 1) + (kernel ? 0 : 1)
            }
            var offset = 0
            while case .body(_, let end) = Frame.next(in: raw, at: offset) { offset = end }
        }
    }

    /// A whole cable, from its hello to whatever ends it.
    private mutating func drive(device: Bool, _ result: inout Result) {
        let hub = Hub(epoch: 1) { $0.flatMap { $0 } }
        let declaration = DeviceDeclaration(
            name: "d", pure: false, provides: ["D.work"], calls: nil, reads: [], writes: ["r"])
        let slot = try? hub.declare(declaration)
        hub.declare(region: "r", initial: .map(["n": .int(0)]))
        let driver = CableDriver(
            hub: hub, device: device ? slot : nil, incarnation: device ? 1 : 0, pid: 1)
        let owner = ReadyOwner()
        driver.owner = owner
        let bindings = device ? [work] : nil
        var stream = frame { $0.hello(Hello(name: "f", bindings: bindings)) }
        stream += frame { $0.name(index: 0, "D.work") }
        if device { stream += frame { $0.ready() } }
        feed(driver, stream)
        let client = CableDriver(hub: hub, device: nil, incarnation: 0, pid: 1)
        feed(client, frame { $0.hello(Hello(name: "c", bindings: nil)) })
        feed(client, frame { $0.name(index: 0, "D.work") })
        for turn in 0..<60 where driver.phase != .closed {
            feed(client, frame { $0.call(id: UInt64(turn), symbol: 0, deadline: 0, key: nil, []) })
            let clean = Int.random(in: 0..<8, using: &chance) > 0
            let sent = message()
            feed(driver, clean ? sent : mutated(sent))
            hub.turn(now: UInt64(turn) * 300_000_000, wall: 0, tick: true)
            hub.tick()
        }
        result.frames += driver.frames + client.frames
        if driver.phase == .closed { result.cables += 1 }
        if let peer = driver.peer {
            if device {
                hub.lost(peer, begun: .max, reason: "fuzz") { _ in .replay }
            } else {
                hub.gone(peer)
            }
        }
        // Each dispatched command may wait for all of its time before the next one begins.
        var second: UInt64 = 18
        while hub.liveFlows > 0 && second < 2_000 {
            second += 1
            hub.turn(now: second * 1_000_000_000, wall: 0, tick: true)
            hub.tick()
        }
        precondition(hub.liveFlows == 0, "seed \(seed) left \(hub.liveFlows) flows")
    }

    private func feed(_ driver: CableDriver, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { raw in
            let taken = driver.receive(raw)
            precondition(taken <= raw.count)
        }
        driver.output.reset()
    }

    private var work: Binding {
        .init(name: "D.work", traits: .replayable, stages: nil, last: false)
    }

    // MARK: - What is sent

    private func frame(_ write: (CBORWriter) -> Void) -> [UInt8] {
        let writer = CBORWriter()
        write(writer)
        return writer.bytes
    }

    private mutating func random(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &chance) }
    }

    private mutating func message() -> [UInt8] {
        let writer = CBORWriter()
        write(to: writer)
        return writer.bytes
    }

    /// A message that fits the cable of `drive`, with small numbers that often meet.
    private mutating func write(to writer: CBORWriter) {
        let visit = UInt64.random(in: 0...12, using: &chance)
        let tag = UInt64.random(in: 1...4, using: &chance)
        let payload = random(Int.random(in: 0...4, using: &chance))
        switch Int.random(in: 0..<19, using: &chance) {
        case 0: writer.returned(visit: visit, .next(payload))
        case 1: writer.returned(visit: visit, .divert("D.work", payload))
        case 2: writer.returned(visit: visit, .fail(KernelError(.failed, "f")))
        case 3, 4: writer.askCall(visit: visit, tag: tag, symbol: tag % 2, deadline: 0, payload)
        case 5, 6: writer.askCommit(visit: visit, tag: tag, [offer(), offer()])
        case 7: writer.askCommit(visit: visit, tag: tag, [offer()])
        case 8: writer.note(visit: visit, region: "r", number: UInt32(tag), revision: visit)
        case 9: writer.parked(visit: visit)
        case 10: writer.call(id: tag, symbol: tag % 2, deadline: UInt32(tag), key: "k", payload)
        case 11: writer.dispatch(id: tag, symbol: 0, key: nil, payload)
        case 12: writer.cancel(id: tag)
        case 13: writer.follow(id: tag, region: tag % 2 == 0 ? "r" : "Kernel.Errors")
        case 14: writer.unfollow(region: "r")
        case 15:
            writer.resume(
                id: tag,
                [
                    PeerMessage.Known(region: "r#/n", epoch: 1, counter: visit),
                    PeerMessage.Known(region: "r", epoch: 1, counter: tag),
                ])
        case 16: writer.check(id: tag, region: tag % 2 == 0 ? "r" : "r#/n")
        case 17: writer.mismatch(region: "r", epoch: 1, counter: visit)
        default: writer.ping(visit)
        }
    }

    private mutating func offer() -> RegionOffer {
        let place: Pointer = Bool.random(using: &chance) ? ["n"] : []
        let number = Int64.random(in: 0...3, using: &chance)
        return RegionOffer(
            region: Bool.random(using: &chance) ? "r" : "q", base: UInt64(number),
            patch: number == 3
                ? nil : Patch([.replace(place, .map(["n": .int(number)]))]))
    }

    /// The bytes with a few of them changed, taken out, or doubled.
    private mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var changed = bytes
        for _ in 0..<Int.random(in: 1...4, using: &chance) where !changed.isEmpty {
            let at = Int.random(in: changed.indices, using: &chance)
            switch Int.random(in: 0..<5, using: &chance) {
            case 0: changed[at] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            case 1: changed[at] = UInt8.random(in: .min ... .max, using: &chance)
            case 2: changed.remove(at: at)
            case 3: changed.insert(changed[at], at: at)
            default: changed.removeLast(changed.count - at)
            }
        }
        return changed
    }
}

/// Lets a device serve as soon as it says so, as the host does.
final class ReadyOwner: DriverOwner {
    func welcomed(_ driver: CableDriver) {}
    func ready(_ driver: CableDriver) {
        if let peer = driver.peer { driver.hub.ready(peer) }
    }
    func drained(_ driver: CableDriver) {}
    func refused(_ driver: CableDriver, _ reason: String) {}
    func wrote(_ driver: CableDriver) {}
    func backlog(_ driver: CableDriver) -> Int { 0 }
}

/// SplitMix64.
struct Chance: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
