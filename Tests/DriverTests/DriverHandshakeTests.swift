import Control
import Driver
import Kernel
import Testing
import Values
import Wire

/// What a peer must say first, and what it is told when it does not.
@Suite struct DriverHandshakeTests {
    /// wire 6.3
    @Test func `a device is welcomed with the regions that it may read`() throws {
        let house = try TestHub()
        let cable = TestCable(house.hub, device: house.slot)
        let heard = cable.send { $0.hello(Hello(name: "other", bindings: [TestHub.work])) }
        #expect(
            heard == [
                #"welcome ["r", "s"] epoch 7"#, "together 2", "snapshot r 0", "digest r 0",
                "snapshot s 0", "digest s 0",
            ])
        #expect(cable.owner.told == ["welcomed"])
        #expect(cable.driver.phase == .serving)
        #expect(cable.driver.peer?.name == "d", "its name is the manifest's")
        cable.send { $0.ready() }
        #expect(cable.owner.told == ["welcomed", "ready"])
    }

    /// wire 6.3
    @Test(arguments: [0, 2, 99], [true, false])
    func `another version is refused in one message that names both builds`(
        _ version: UInt64, _ isDevice: Bool
    ) throws {
        let house = try TestHub()
        let cable = TestCable(house.hub, device: isDevice ? house.slot : nil)
        var hello = Hello(name: "old", bindings: [TestHub.work])
        hello.wire = version
        hello.build = "9.9.9"
        let heard = cable.send { $0.hello(hello) }
        #expect(heard.count == 1)
        let message = try #require(heard.first)
        for part in [
            "refused unsupported", "9.9.9", WireVersion.build, "wire \(version)", "wire 1",
        ] {
            #expect(message.contains(part), "\(part) in: \(message)")
        }
        #expect(message.contains(isDevice ? "the device d" : "the client old"))
        #expect(cable.driver.phase == .closed)
        #expect(cable.owner.told == ["refused"])
        #expect(cable.send { $0.ping(1) } == [], "nothing is said after it")
    }

    static let wrong: [(bindings: [Binding]?, named: String)] = [
        (nil, "leaves D.work unbound"), ([], "leaves D.work unbound"),
        ([TestHub.work, TestHub.work], "binds D.work twice"),
        (
            [
                TestHub.work,
                .init(name: "E.work", traits: .unstated, stages: nil, last: false),
            ], "binds E.work, which its manifest does not provide"
        ),
        (
            [
                .init(
                    name: "D.work", traits: .unstated,
                    stages: [
                        StageDescriptor(
                            kind: .pipe, symbol: "E.work", notes: [], shape: "", file: "",
                            line: 0)
                    ], last: false)
            ], "may not call E.work"
        ),
    ]

    @Test(arguments: 0..<wrong.count)
    func `a device whose bindings are not its manifest's is refused by the symbol's name`(
        _ index: Int
    ) throws {
        let (bindings, named) = Self.wrong[index]
        let house = try TestHub()
        let cable = TestCable(house.hub, device: house.slot)
        let heard = cable.send { $0.hello(Hello(name: "d", bindings: bindings)) }
        #expect(heard.count == 1)
        #expect(heard.first?.hasPrefix("refused denied: d ") == true || named.contains("may not"))
        #expect(heard.first?.contains(named) == true, "\(heard)")
        #expect(cable.driver.peer == nil)
    }

    /// wire 6.7
    @Test func `whatever comes before the hello ends the cable`() throws {
        let writes: [(CBORWriter) -> Void] = [
            { $0.call(id: 1, symbol: 0, deadline: 0, key: nil, []) }, { $0.ready() },
            { $0.ping(1) }, { $0.name(index: 0, "D.work") },
        ]
        for write in writes {
            let house = try TestHub()
            let cable = TestCable(house.hub)
            let heard = cable.send(write)
            #expect(heard.count == 1)
            #expect(heard.first?.contains("must be a hello") == true)
            #expect(cable.driver.phase == .closed)
        }
    }

    /// wire 6.7
    @Test func `a second hello ends the cable`() throws {
        let cable = try TestHub().client()
        let heard = cable.send { $0.hello(Hello(name: "c", bindings: nil)) }
        #expect(heard.first?.hasPrefix("refused malformed") == true)
    }

    /// wire 2.6
    @Test(arguments: [
        [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], Array("GET / HTTP/1.1\r\n\r\n".utf8),
        [0, 0, 0, 3, 0x82, 0x18, 0x63], [0, 0, 0, 3, 1, 2, 3],
        [0, 0, 0, 4, 0x82, 0x18, 0x63, 0x00],
    ])
    func `garbage is answered once and the cable ends`(_ bytes: [UInt8]) throws {
        let house = try TestHub()
        for isGreeted in [false, true] {
            let cable = isGreeted ? house.client() : TestCable(house.hub)
            let heard = cable.send(bytes)
            #expect(heard.count == 1)
            #expect(heard.first?.hasPrefix("refused malformed: ") == true)
            #expect(cable.driver.phase == .closed)
            #expect(cable.owner.told.last == "refused")
            #expect(cable.owner.reasons.count == 1)
            #expect(cable.send(bytes) == [])
        }
    }

    /// wire 2.1
    @Test func `a frame in pieces is taken when it is whole`() throws {
        let house = try TestHub()
        let cable = TestCable(house.hub)
        let writer = CBORWriter()
        writer.hello(Hello(name: "c", bindings: nil))
        let bytes = writer.bytes
        for count in 0..<bytes.count {
            #expect(cable.send(Array(bytes.prefix(count))) == [])
            #expect(cable.taken == 0)
        }
        #expect(cable.send(bytes + [0, 0]).count == 1)
        #expect(cable.taken == bytes.count)
    }
}
