import Control
import Testing
import Values

@testable import Wire

/// The short way of reading the most frequent messages must never say anything else than the long
/// one.
@Suite struct PlainMessageTests {
    private static func body(_ write: (CBORWriter) -> Void) -> [UInt8] {
        let writer = CBORWriter()
        write(writer)
        return Array(writer.bytes.dropFirst(4))
    }

    private static let numbers: [UInt64] = [0, 23, 24, 256, 65_536, 1 << 32, .max]
    private static let payloads: [[UInt8]] = [[], [1], Array(repeating: 7, count: 300)]

    private static func visit(
        _ number: UInt64, _ payload: [UInt8], path: String? = nil,
        reads: [RegionRead] = [], of asker: KernelMessage.Asker? = nil
    ) -> [UInt8] {
        body {
            $0.visit(
                of: asker, number: number, symbol: 3, flow: number, path: path, step: 4_000_000_000,
                attempt: 2, now: -5, lowest: number, replay: number % 2 == 0, reads: reads,
                payload: payload)
        }
    }

    /// Frames of the four kinds in their plain form.
    static let plain: [[UInt8]] = numbers.flatMap { number in
        payloads.flatMap { payload in
            [
                body { $0.call(id: number, symbol: number, deadline: 70_000, key: nil, payload) },
                body { $0.returned(visit: number, .next(payload)) },
                body { $0.output(reply: number, payload) },
                visit(number, payload),
            ]
        }
    }

    /// Frames near to them that are for the long way alone.
    static let other: [[UInt8]] = [
        body { $0.call(id: 1, symbol: 2, deadline: 3, key: "own", [1]) },
        body { $0.returned(visit: 1, .abort([1], shape: "")) },
        body { $0.returned(visit: 1, .fail(KernelError(.failed, "no"))) },
        body { $0.failure(reply: 1, KernelError(.failed, "no")) },
        body { $0.dispatch(id: 1, symbol: 2, key: nil, [1]) },
        body { $0.askCall(visit: 1, tag: 2, symbol: 3, deadline: 4, [1]) },
        visit(1, [1], path: "1/2"),
        visit(
            1, [1],
            reads: [RegionRead(region: "R", number: 0, revision: 1, value: .null)]),
        visit(1, [1], of: KernelMessage.Asker(visit: 1, tag: 1)),
    ]

    private static let all = plain + other

    /// What the short way says, in words; nil when it leaves the frame to the long one.
    private static func short(_ body: UnsafeRawBufferPointer) -> String? {
        if let call = PeerMessage.plainCall(body) {
            return "call \(call.id) \(call.symbol) \(call.deadline) \(Array(call.payload))"
        }
        if let output = PeerMessage.plainOutput(body) {
            return "returned \(output.number) \(Array(output.bytes))"
        }
        if let reply = KernelMessage.plainReply(body) {
            return "reply \(reply.number) \(Array(reply.bytes))"
        }
        return KernelMessage.plainVisit(body).map(words)
    }

    private static func words(_ visit: KernelMessage.Delivery) -> String {
        "visit \(visit.number) \(visit.symbol) \(visit.flow) \(visit.path ?? "-") \(visit.step) "
            + "\(visit.attempt) \(visit.now) \(visit.lowest) \(visit.replay) \(visit.reads.count) "
            + "\(Array(visit.payload))"
    }

    /// What the long way says of it in the same words.
    private static func long(_ body: UnsafeRawBufferPointer) -> String? {
        switch try? PeerMessage(body) {
        case .call(let id, let symbol, let deadline, nil, let payload):
            return "call \(id) \(symbol) \(deadline) \(Array(payload))"
        case .returned(let visit, .next(let bytes)): return "returned \(visit) \(bytes)"
        default: break
        }
        switch try? KernelMessage(body) {
        case .reply(let id, .output(let bytes)): return "reply \(id) \(Array(bytes))"
        case .visit(let visit): return words(visit)
        default: return nil
        }
    }

    @Test(arguments: plain) func `a plain message is read the short way`(_ body: [UInt8]) {
        body.withUnsafeBytes { raw in
            let said = Self.short(raw)
            #expect(said != nil)
            #expect(said == Self.long(raw))
        }
    }

    @Test(arguments: other) func `any other message is left to the long way`(_ body: [UInt8]) {
        body.withUnsafeBytes { raw in
            #expect(Self.short(raw) == nil)
            #expect((try? PeerMessage(raw)) != nil || (try? KernelMessage(raw)) != nil)
        }
    }

    @Test(arguments: plain.filter { $0.count < 40 })
    func `no byte in any place is read otherwise`(_ body: [UInt8]) {
        var differing: [String] = []
        for place in body.indices {
            for byte in UInt8.min...UInt8.max {
                var other = body
                other[place] = byte
                other.withUnsafeBytes { raw in
                    guard let said = Self.short(raw), said != Self.long(raw) else { return }
                    differing.append("\(byte) at \(place): \(said)")
                }
            }
        }
        #expect(differing.isEmpty)
    }

    @Test(arguments: 0..<40) func `no bytes whatever are read otherwise`(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var differing = 0
        for _ in 0..<500 {
            var body = Self.all[random.below(Self.all.count)]
            for _ in 0..<(1 + random.below(3)) where !body.isEmpty {
                switch random.below(3) {
                case 0: body[random.below(body.count)] = UInt8(random.below(256))
                case 1: body.remove(at: random.below(body.count))
                default: body.insert(UInt8(random.below(256)), at: random.below(body.count + 1))
                }
            }
            body.withUnsafeBytes { raw in
                guard let said = Self.short(raw) else { return }
                differing += said == Self.long(raw) ? 0 : 1
            }
        }
        #expect(differing == 0)
    }
}
