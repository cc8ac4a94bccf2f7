import Control
import Testing
import UnixSocket
import Values

@testable import DeviceKit
@testable import Wire

/// A mirror equals the kernel's region at the revision that it names, and never goes back.
@Suite(.onLoop) struct MirrorTests {
    /// Gives a mirror what a writer of the kernel has written.
    /// - Returns: what the mirror found to differ.
    @discardableResult @LoopActor
    private func feed(
        _ mirror: Mirror, _ write: (CBORWriter) -> Void
    ) throws -> [Mirror.Mismatch] {
        var found: [Mirror.Mismatch] = []
        let writer = CBORWriter()
        write(writer)
        try writer.withBytes { raw in
            var offset = 0
            while case .body(let body, let end) = Frame.next(in: raw, at: offset) {
                offset = end
                if let mismatch = try mirror.take(try KernelMessage(body)) {
                    found.append(mismatch)
                }
            }
        }
        return found
    }

    private static func set(_ region: String, from: UInt64, _ value: Value) -> RegionChange {
        RegionChange(region: region, from: from, patch: Patch([.replace([], value)]))
    }

    @LoopActor @Test func `a snapshot is the region, and a patch at its revision changes it`()
        throws
    {
        let mirror = Mirror()
        try feed(mirror) {
            $0.snapshot(region: "r", epoch: 7, counter: 4, .int(1))
            $0.patch(epoch: 7, counter: 5, [Self.set("r", from: 4, .int(2))])
        }
        #expect(mirror.regions["r"]?.value == .int(2))
        #expect(mirror.regions["r"]?.revision == Revision(epoch: 7, counter: 5))
    }

    /// wire 9.3
    @LoopActor @Test(arguments: [(7, 5), (7, 8), (6, 4), (8, 4)] as [(UInt64, UInt64)])
    func `a patch from another revision leaves the mirror as it is`(
        _ epoch: UInt64, _ from: UInt64
    ) throws {
        let mirror = Mirror()
        try feed(mirror) {
            $0.snapshot(region: "r", epoch: 7, counter: 4, .int(1))
            $0.patch(epoch: epoch, counter: 9, [Self.set("r", from: from, .int(2))])
        }
        #expect(mirror.regions["r"]?.value == .int(1))
        #expect(mirror.regions["r"]?.revision == Revision(epoch: 7, counter: 4))
    }

    /// wire 9.1
    @LoopActor @Test func `parts of a snapshot are applied together`() throws {
        let mirror = Mirror()
        let long = Value.text(String(repeating: "a", count: WireLimits.snapshotPart * 2))
        var told = 0
        mirror.observe("r") { _ in told += 1 }
        try feed(mirror) { $0.snapshot(region: "r", epoch: 7, counter: 4, .int(1)) }
        try feed(mirror) { $0.snapshot(region: "r", epoch: 7, counter: 5, long) }
        #expect(mirror.regions["r"]?.value == long)
        #expect(told == 2)
    }

    /// Who leaves in the middle of a snapshot, and comes back before its end, begins anew.
    @LoopActor @Test func `the rest of a snapshot that nobody waited for is dropped`() throws {
        let mirror = Mirror(onlyObserved: true)
        let long = Value.text(String(repeating: "a", count: WireLimits.snapshotPart * 2))
        let writer = CBORWriter()
        writer.together(2)
        writer.snapshot(region: "r", epoch: 7, counter: 1, long)
        writer.snapshot(region: "s", epoch: 7, counter: 1, .int(1))
        writer.snapshot(region: "r", epoch: 7, counter: 2, .int(2))
        let observer = mirror.observe("r") { _ in }
        mirror.observe("s") { _ in }
        var count = 0
        var told = 0
        try writer.withBytes { raw in
            var offset = 0
            while case .body(let body, let end) = Frame.next(in: raw, at: offset) {
                offset = end
                _ = try mirror.take(try KernelMessage(body))
                count += 1
                guard count == 2 else { continue }
                #expect(mirror.forget(observer))
                mirror.drop("r")
                mirror.observe("r") { _ in told += 1 }
            }
        }
        #expect(mirror.regions["r"]?.value == .int(2))
        #expect(told == 1)
        #expect(mirror.regions["s"]?.value == .int(1), "what came with it is complete")
    }

    @LoopActor @Test(arguments: [(2, 2), (0, 0), (.max, 0), (.max, .max)] as [(UInt64, UInt64)])
    func `a part beyond the end of its snapshot is refused`(_ part: UInt64, _ parts: UInt64) {
        let mirror = Mirror()
        #expect(throws: WireError.self) {
            try feed(mirror) { writer in
                writer.frame(.snapshot, 6) {
                    $0.text("r")
                    for number in [7, 1, part, parts] { $0.uint(number) }
                    $0.bytes([1])
                }
            }
        }
        #expect(mirror.regions.isEmpty)
    }

    /// A client keeps what it observes; a device all that it is sent.
    @LoopActor @Test(arguments: [true, false])
    func `what nobody observes is kept by a device alone`(_ onlyObserved: Bool) throws {
        let mirror = Mirror(onlyObserved: onlyObserved)
        try feed(mirror) {
            $0.snapshot(region: "r", epoch: 7, counter: 1, .int(1))
            $0.together(2)
            $0.snapshot(region: "s", epoch: 7, counter: 1, .int(1))
            $0.snapshot(region: "t", epoch: 7, counter: 1, .int(1))
        }
        #expect(mirror.regions.keys.sorted() == (onlyObserved ? [] : ["r", "s", "t"]))
    }

    @LoopActor @Test func `a commit of two regions is applied whole or not at all`() throws {
        let mirror = Mirror()
        try feed(mirror) {
            $0.snapshot(region: "r", epoch: 7, counter: 0, .int(1))
            $0.snapshot(region: "s", epoch: 7, counter: 0, .int(1))
        }
        let bad = RegionChange(region: "s", from: 0, patch: Patch([.remove(["gone"])]))
        #expect(throws: PatchError.self) {
            try feed(mirror) {
                $0.patch(epoch: 7, counter: 1, [Self.set("r", from: 0, .int(2)), bad])
            }
        }
        #expect(mirror.regions["r"]?.value == .int(1))
        #expect(mirror.regions["r"]?.revision.counter == 0)
    }

    @LoopActor @Test func `an observer begins with the state that is known`() throws {
        let mirror = Mirror()
        try feed(mirror) { $0.snapshot(region: "r", epoch: 7, counter: 4, .int(1)) }
        var told: [String] = []
        mirror.observe("r") { update in
            switch update {
            case .snapshot(let revision, let value): told.append("\(revision) \(value.json())")
            case .patch(let revision, _): told.append("\(revision) patch")
            }
        }
        try feed(mirror) { $0.patch(epoch: 7, counter: 5, [Self.set("r", from: 4, .int(2))]) }
        #expect(told == ["7-4 1", "7-5 patch"])
    }

    /// wire 9.3
    @LoopActor @Test(arguments: [(4, 6, true), (4, 5, false), (5, 6, true), (6, 7, false)])
    func `a patch fits where the region has not changed between`(
        _ from: UInt64, _ to: UInt64, _ fits: Bool
    ) throws {
        let mirror = Mirror()
        try feed(mirror) {
            $0.snapshot(region: "r", epoch: 7, counter: 5, .int(1))
            $0.patch(epoch: 7, counter: to, [Self.set("r", from: from, .int(2))])
        }
        #expect(mirror.regions["r"]?.value == (fits ? .int(2) : .int(1)))
    }

    /// wire 9.10
    @LoopActor @Test func `what belongs together is seen together`() throws {
        let mirror = Mirror()
        var seen: [String] = []
        for region in ["r", "s"] {
            mirror.observe(region) { _ in
                seen.append("\(["r", "s"].map { mirror.regions[$0]?.value.int ?? 0 })")
            }
        }
        try feed(mirror) {
            $0.together(2)
            $0.snapshot(region: "r", epoch: 7, counter: 1, .int(1))
        }
        #expect(seen == [] && mirror.regions.isEmpty)
        try feed(mirror) { $0.snapshot(region: "s", epoch: 7, counter: 1, .int(1)) }
        #expect(seen == ["[1, 1]", "[1, 1]"])
        try feed(mirror) {
            $0.together(3)
            $0.patch(epoch: 7, counter: 2, [Self.set("r", from: 1, .int(2))])
            $0.patch(epoch: 7, counter: 3, [Self.set("r", from: 2, .int(3))])
            $0.patch(epoch: 7, counter: 3, [Self.set("s", from: 1, .int(3))])
        }
        #expect(seen.dropFirst(2) == ["[3, 3]", "[3, 3]", "[3, 3]"])
        #expect(throws: WireError.self) {
            try feed(mirror) {
                $0.together(2)
                $0.together(2)
            }
        }
        mirror.interrupt(KernelError(.kernelLost, ""))
        try feed(mirror) { $0.snapshot(region: "r", epoch: 8, counter: 0, .int(4)) }
        #expect(mirror.regions["r"]?.value == .int(4), "another connection begins anew")
    }

    /// wire 9.11
    @LoopActor @Test func `a digest that differs is told once`() throws {
        let mirror = Mirror()
        #expect(
            try feed(mirror) {
                $0.snapshot(region: "r", epoch: 7, counter: 5, ["a": 1])
                $0.digest(region: "s", epoch: 7, counter: 5, 0)
                $0.digest(region: "r", epoch: 7, counter: 4, 0)
                $0.digest(region: "r", epoch: 6, counter: 5, 0)
            } == [])
        #expect(mirror.comparisons.all == 1 && mirror.comparisons.differing == 0)
        let found = try feed(mirror) { $0.digest(region: "r", epoch: 7, counter: 5, 0) }
        #expect(found == [.init(place: "r", revision: Revision(epoch: 7, counter: 5))])
        // What is sent anew and differs again ends the connection, or it would go on for ever.
        #expect(throws: WireError.self) {
            try feed(mirror) { $0.digest(region: "r", epoch: 7, counter: 5, 0) }
        }
    }

    @LoopActor @Test func `what is resumed is what is known and what is only observed`() throws {
        let mirror = Mirror()
        let observer = mirror.observe("s") { _ in }
        try feed(mirror) { $0.snapshot(region: "r", epoch: 7, counter: 4, .int(1)) }
        #expect(
            mirror.known == [
                .init(region: "r", epoch: 7, counter: 4), .init(region: "s", epoch: 0, counter: 0),
            ])
        #expect(mirror.forget(observer))
        #expect(!mirror.forget(observer))
        #expect(mirror.known.map(\.region) == ["r"])
    }
}
