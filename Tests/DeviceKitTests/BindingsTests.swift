import Control
import Kernel
import Testing
import UnixSocket
import Wire

@testable import DeviceKit

/// What a device announces, and under which numbers the kernel will visit it.
@Suite(.onLoop) struct BindingsTests {
    static let double = Symbol<Int, Int>("A.double", .replayable)
    static let handled = Symbol<Int, Int>("A.handled", .keyed)
    static let piped = Symbol<Int, Int>("A.piped", Traits(.replayable, lane: "l"))

    /// Both ends count names by themselves: a difference would visit the wrong code.
    @LoopActor @Test func `the kernel and the device count the same names`() {
        let bindings = Bindings()
        bindings.bind(Self.double, pure: { $0 * 2 })
        bindings.bind(
            Self.piped,
            to: pipeline(Int.self).map { $0 + 1 }.effect { _, _ in }.pipe(Self.double).withRequest()
                .map { $0.1 }.finally { _ in }.seal())
        bindings.bind(Self.handled) { _, value in value }
        let announced = bindings.announcements.map {
            Binding(name: $0.name, traits: $0.traits, stages: $0.stages, last: $0.last)
        }
        let places = Hub.places(of: announced)
        #expect(
            places == [
                "A.double", "A.piped", "A.piped#0", "A.piped#3", "A.piped#finally", "A.handled",
            ])
        #expect(bindings.bodies.count == places.count)
    }

    @LoopActor @Test func `what is announced is what was bound`() {
        let bindings = Bindings()
        bindings.bind(Self.handled) { _, value in value }
        bindings.bind(Self.piped, to: pipeline(Self.double).tap(Self.handled).seal())
        #expect(bindings.announcements.map(\.name) == ["A.handled", "A.piped"])
        #expect(bindings.announcements.map(\.traits) == [Self.handled.traits, Self.piped.traits])
        #expect(
            bindings.announcements.map { $0.stages?.map(\.symbol) } == [
                nil, ["A.double", "A.handled"],
            ])
        #expect(bindings.announcements.map(\.last) == [false, false])
    }
}
