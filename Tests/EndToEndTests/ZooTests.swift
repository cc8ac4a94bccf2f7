import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Every animal of the zoo beside two healthy siblings, in one table for each kind.
    @Suite struct ZooTests {
        @Test func `each behaviour of the zoo is shown`() throws {
            let instance = try Instance()
            defer { instance.end() }
            let listed = try instance.start(program: Programs.zoo, ["--words"]).finish()
            let words = Set(listed.out.split(separator: "\n").map(String.init))
            #expect(words.count > 30)
            let shown = Set(
                [Self.starts, Self.misdeeds, Self.signals, Self.visits, Self.families].joined()
                    .flatMap(\.words))
            #expect(words.subtracting(shown) == [], "without an exhibit")
        }

        @Test func `an animal that starts badly is given up, and its siblings see nothing`()
            throws
        {
            try ZooHouse.show(Self.starts)
        }

        @Test func `a misdeed outside of a visit ends its process and nobody else's`() throws {
            try ZooHouse.show(Self.misdeeds)
        }

        @Test func `each exit code and each signal is named, and the device is back`() throws {
            try ZooHouse.show(Self.signals)
        }

        @Test func `a misdeed in a visit costs a restart, and its caller is answered`() throws {
            try ZooHouse.show(Self.visits)
        }

        @Test func `what an animal starts ends with it, wherever it has gone`() throws {
            try ZooHouse.show(Self.families)
        }
    }
}
