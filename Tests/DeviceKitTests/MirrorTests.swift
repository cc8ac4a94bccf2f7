import Control
import Testing
import UnixSocket
import Values
import Wire

@testable import DeviceKit

/// A mirror equals the kernel's region at the revision that it names, and never goes back.
@Suite(.onLoop) struct MirrorTests {
    /// Gives a mirror what a writer of the kernel has written.
    @LoopActor private func feed(_ mirror: Mirror, _ write: (CBORWriter) -> Void) throws {
        let writer = CBORWriter()
        write(writer)
        try writer.withBytes { raw in
            var offset = 0
            while case .body(let body, let end) = Frame.next(in: raw, at: offset) {
                offset = end
                switch try KernelMessage(body) {
                case .snapshot(let part): try mirror.take(part)
                case .patch(let epoch, let counter, let changes):
                    try mirror.take(epoch: epoch, counter: counter, changes)
                default: Issue.record("no other message changes a mirror")
                }
            }
        }
    }

    private static func set(_ region: String, from: UInt64, _ value: Value) -> KernelMessage.Change
    {
        KernelMessage.Change(region: region, from: from, patch: Patch([.replace([], value)]))
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
    @LoopActor @Test(arguments: [(7, 3), (7, 5), (6, 4), (8, 4)] as [(UInt64, UInt64)])
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

    @LoopActor @Test func `a commit of two regions is applied whole or not at all`() throws {
        let mirror = Mirror()
        try feed(mirror) {
            $0.snapshot(region: "r", epoch: 7, counter: 0, .int(1))
            $0.snapshot(region: "s", epoch: 7, counter: 0, .int(1))
        }
        let bad = KernelMessage.Change(region: "s", from: 0, patch: Patch([.remove(["gone"])]))
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
}
