import Glibc
import Testing

@testable import UnixSocket

@Suite(.onLoop)
struct ConnectionTests {
    @Test @LoopActor func `frames that come byte by byte are delivered whole`() async throws {
        let line = try Line()
        let frames: [[UInt8]] = [[1, 2, 3], [], [4], Array(repeating: 9, count: 255)]
        for frame in frames {
            for byte in [UInt8(frame.count)] + frame {
                line.near.send([byte])
                line.near.flushNow()
                line.far.readAll()
            }
        }
        try await line.farEnd.gate.until { line.farEnd.frames.count == frames.count }
        #expect(line.farEnd.frames == frames)
        #expect(line.farEnd.offers > 255)
        #expect(line.far.keptBytes == 0)
        line.close()
    }

    @Test @LoopActor func `what is sent in one turn is written at once and read at once`()
        async throws
    {
        let line = try Line()
        for number in 0..<100 { line.near.send([1, UInt8(number)]) }
        #expect(line.near.pendingBytes == 200)
        try await line.farEnd.gate.until { line.farEnd.frames.count == 100 }
        #expect(line.farEnd.offers == 1)
        #expect(line.farEnd.frames == (0..<100).map { [UInt8($0)] })
        line.near.send(room: 10) { room in
            room[0] = 1
            room[1] = 200
            return 2
        }
        try await line.farEnd.gate.until { line.farEnd.frames.count == 101 }
        #expect(line.farEnd.frames.last == [200])
        line.close()
    }

    @Test @LoopActor func `what is gathered in a turn is asked for once and leaves at its end`()
        async throws
    {
        let line = try Line()
        var asked = 0
        line.near.onFlush = {
            asked += 1
            line.near.gathered = 0
            line.near.send([1, UInt8(asked)])
        }
        for _ in 0..<10 { #expect(line.near.fillLater()) }
        line.near.gathered = 2
        #expect(asked == 0 && line.near.pendingBytes == 2)
        try await line.farEnd.gate.until { line.farEnd.frames == [[1]] }
        #expect(line.near.pendingBytes == 0)
        #expect(line.near.fillLater())
        try await line.farEnd.gate.until { line.farEnd.frames == [[1], [2]] }
        line.close()
        #expect(!line.near.fillLater(), "nothing is asked for any more")
    }

    @Test @LoopActor func `nothing is asked for while the peer does not read`() async throws {
        let line = try Line(raw: true)
        var asked = 0
        line.near.onFlush = { asked += 1 }
        line.far.readingPaused = true
        line.near.send([UInt8](repeating: 5, count: 4 << 20))
        try await loop().nextTurn()
        try await loop().nextTurn()
        let before = asked
        #expect(!line.near.fillLater())
        try await loop().nextTurn()
        #expect(asked == before)
        line.close()
    }

    @Test @LoopActor func `a peer that does not read gets the rest when it does`() async throws {
        let line = try Line(raw: true)
        let gate = Gate()
        var drained = 0
        line.near.onDrained = {
            drained += 1
            gate.changed()
        }
        line.far.readingPaused = true
        let size = 4 << 20
        line.near.send([UInt8](repeating: 5, count: size))
        try await loop().nextTurn()
        try await loop().nextTurn()
        let pending = line.near.pendingBytes
        #expect(pending > 0 && pending < size)
        let progress = line.near.lastProgress
        line.near.send([1, 2, 3])
        try await loop().nextTurn()
        #expect(line.near.pendingBytes == pending + 3)
        #expect(line.near.lastProgress == progress)
        #expect(line.farEnd.byteCount == 0)
        line.far.readingPaused = false
        try await gate.until { drained == 1 }
        try await line.farEnd.gate.until { line.farEnd.byteCount == size + 3 }
        #expect(line.near.pendingBytes == 0)
        #expect(line.near.output.capacity <= SocketLimits.keptCapacity)
        line.close()
    }

    @Test @LoopActor
    func `a message larger than every buffer arrives whole and its memory is given back`()
        async throws
    {
        /// Takes nothing until all is there.
        final class Patient: ConnectionDelegate {
            var received: [UInt8] = []
            let wanted: Int
            let gate = Gate()
            nonisolated init(wanted: Int) { self.wanted = wanted }
            func connection(_ connection: Connection, received bytes: UnsafeRawBufferPointer) -> Int
            {
                #expect(connection.kept.capacity <= max(4 * bytes.count, 64 << 10))
                guard bytes.count >= wanted else { return 0 }
                received = Array(bytes.prefix(wanted))
                gate.changed()
                return wanted
            }
            func connection(_ connection: Connection, closed reason: CloseReason) {}
        }
        var pair = try socketPair()
        let message = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let patient = Patient(wanted: message.count)
        let far = Connection(pair.takeSecond(), delegate: patient)
        let near = Connection(pair.takeFirst(), delegate: Recorder())
        near.send(message)
        near.send([7])
        try await patient.gate.until { !patient.received.isEmpty }
        #expect(patient.received == message)
        try await loop().nextTurn()
        try await loop().nextTurn()
        #expect(far.keptBytes == 1)
        #expect(far.kept.capacity <= SocketLimits.busyCapacity)
        near.close()
        far.close()
    }

    @Test @LoopActor
    func `a peer that closes while it is written to ends the connection and not the process`()
        async throws
    {
        let line = try Line(raw: true)
        line.far.readingPaused = true
        line.near.send([UInt8](repeating: 5, count: 4 << 20))
        try await loop().nextTurn()
        line.far.close()
        try await line.nearEnd.gate.until { !line.nearEnd.reasons.isEmpty }
        try await loop().nextTurn()
        #expect(line.nearEnd.reasons.count == 1)
        #expect(line.near.isClosed && line.near.pendingBytes == 0)
        line.near.send([1])
        line.near.flushNow()
        #expect(line.near.pendingBytes == 0)
    }

    @Test @LoopActor func `what a dead peer had written is delivered before its end is told`()
        async throws
    {
        let line = try Line()
        line.far.send([2, 8, 8])
        line.far.flushNow()
        line.far.close()
        line.near.send([1, 1])
        line.near.flushNow()
        #expect(line.nearEnd.reasons.isEmpty)
        try await line.nearEnd.gate.until { !line.nearEnd.reasons.isEmpty }
        #expect(line.nearEnd.frames == [[8, 8]])
        #expect(line.nearEnd.reasons == [.eof])
    }

    @Test @LoopActor
    func `a peer that dies while reading is paused ends the connection with all that it wrote`()
        async throws
    {
        let line = try Line()
        line.far.readingPaused = true
        line.near.readingPaused = true
        line.near.send([UInt8](repeating: 5, count: 4 << 20))
        try await loop().nextTurn()
        #expect(line.near.pendingBytes > 0)
        line.far.send([2, 8, 8])
        line.far.flushNow()
        line.far.close()
        try await line.nearEnd.gate.until { !line.nearEnd.reasons.isEmpty }
        #expect(line.nearEnd.frames == [[8, 8]])
        #expect(line.near.isClosed && line.nearEnd.reasons.count == 1)
    }

    @Test @LoopActor func `a cable is read dry on demand`() throws {
        let line = try Line(raw: true)
        for _ in 0..<4 {
            line.far.send([UInt8](repeating: 3, count: 30_000))
            line.far.flushNow()
        }
        line.far.close()
        line.near.readAll()
        #expect(line.nearEnd.byteCount == 120_000)
        #expect(line.nearEnd.reasons == [.eof])
        line.near.readAll()
        line.near.close()
        #expect(line.nearEnd.reasons == [.eof])
    }

    @Test @LoopActor func `a paused connection keeps what it has and takes it up again`()
        async throws
    {
        let line = try Line()
        line.farEnd.onReceive = { connection in
            if line.farEnd.frames.count == 1 { connection.readingPaused = true }
        }
        line.near.send([1, 10])
        try await line.farEnd.gate.until { line.farEnd.frames.count == 1 }
        line.near.send([1, 11])
        line.near.flushNow()
        line.near.close()
        try await loop().nextTurn()
        let turns = loop().turns
        try await loop().sleep(until: Clock.monotonic + 20_000_000)
        // A closed peer behind a pause does not make the loop spin.
        #expect(loop().turns - turns < 1000)
        #expect(line.farEnd.frames.count == 1)
        #expect(line.farEnd.reasons.isEmpty)
        line.far.readingPaused = false
        try await line.farEnd.gate.until { !line.farEnd.reasons.isEmpty }
        #expect(line.farEnd.frames == [[10], [11]])
        #expect(line.farEnd.reasons == [.eof])
    }

    @Test @LoopActor func `frames keep their order and content however the traffic is cut`()
        async throws
    {
        let line = try Line()
        var random = SystemRandomNumberGenerator()
        var sent: [[UInt8]] = []
        for round in 0..<200 {
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                let frame = [UInt8](repeating: UInt8(round), count: .random(in: 0...255))
                sent.append(frame)
                line.near.send([UInt8(frame.count)] + frame)
                if Int.random(in: 0...9, using: &random) == 0 { line.near.flushNow() }
            }
            line.far.readingPaused = Bool.random(using: &random)
            if Bool.random(using: &random) { try await loop().nextTurn() }
        }
        line.far.readingPaused = false
        try await line.farEnd.gate.until { line.farEnd.frames.count == sent.count }
        #expect(line.farEnd.frames == sent)
        line.close()
    }

    @Test @LoopActor func `a connection may be closed and others read inside a callback`()
        async throws
    {
        let first = try Line()
        let second = try Line()
        second.far.send([1, 5])
        second.far.flushNow()
        first.nearEnd.onReceive = { connection in
            second.near.readAll()
            connection.readAll()
            connection.close()
            connection.close()
        }
        first.far.send([1, 1, 1, 2])
        try await first.nearEnd.gate.until { first.near.isClosed }
        #expect(first.nearEnd.frames == [[1], [2]])
        #expect(second.nearEnd.frames == [[5]])
        try await first.farEnd.gate.until { !first.farEnd.reasons.isEmpty }
        #expect(first.nearEnd.reasons.isEmpty)
        second.close()
    }

    @Test @LoopActor func `descriptors arrive with the first byte of their message`() async throws {
        let line = try Line()
        line.far.receivesDescriptors = true
        var counts: [Int] = []
        line.farEnd.onReceive = { _ in counts.append(line.far.arrived.count) }
        var pipe = try pipePair()
        let read = pipe.takeFirst()
        let write = pipe.takeSecond()
        line.near.send([1, 1])
        try line.near.send([1, 2], descriptors: [write.number])
        line.near.send([1, 3])
        try line.near.send([1, 4], descriptors: [read.number, write.number])
        try await line.farEnd.gate.until { line.farEnd.frames.count == 4 }
        #expect(line.farEnd.frames == [[1], [2], [3], [4]])
        guard let first = line.far.takeDescriptor() else {
            Issue.record("no descriptor came")
            return
        }
        #expect(fcntl(first.number, F_GETFD) & FD_CLOEXEC != 0)
        close(write.take())
        var byte: UInt8 = 77
        #expect(Glibc.write(first.number, &byte, 1) == 1)
        byte = 0
        #expect(Glibc.read(read.number, &byte, 1) == 1)
        #expect(byte == 77)
        let rest = line.far.takeDescriptors()
        #expect(rest.count == 2)
        for number in rest { Glibc.close(number) }
        #expect(line.far.takeDescriptors().isEmpty)
        line.close()
    }

    @Test @LoopActor func `descriptors that cannot travel are refused and nothing is sent`() throws
    {
        let line = try Line()
        #expect(throws: SocketError.self) {
            try line.near.send(UnsafeRawBufferPointer(start: nil, count: 0), descriptors: [0])
        }
        #expect(throws: SocketError.self) {
            try line.near.send([1, 1], descriptors: Array(repeating: 0, count: 17))
        }
        #expect(throws: SocketError.self) {
            try line.near.send([1, 1], descriptors: [0, -1])
        }
        #expect(line.near.pendingBytes == 0)
        line.close()
    }

    @Test @LoopActor func `a peer that floods with descriptors is cut off`() async throws {
        let line = try Line()
        line.far.receivesDescriptors = true
        for _ in 0..<5 {
            try line.near.send([0], descriptors: Array(repeating: 0, count: 16))
        }
        try await line.farEnd.gate.until { !line.farEnd.reasons.isEmpty }
        #expect(line.farEnd.reasons == [.error(EMSGSIZE)])
        line.close()
    }
}
