import Control
import Testing
import Values
import Wire

/// The maps with which two builds meet: they may grow, and they stay readable.
@Suite struct HandshakeTests {
    static let binding: Value = .map(["name": "A.b"])

    /// wire 6.1
    @Test func `a hello reads back as it was written`() throws {
        let stage = StageDescriptor(
            kind: .closure, symbol: nil, notes: ["map", "verb"], shape: "Int",
            file: "A/B.swift", line: 9)
        let visit = StageDescriptor(
            kind: .pipe, symbol: "C.d", notes: [], shape: "Int", file: "A/B.swift", line: 8)
        var hello = Hello(
            name: "circuit",
            bindings: [
                .init(
                    name: "A.b",
                    traits: Traits(
                        .keyed, lane: "l", summary: "Does.", attempt: 10, deadline: 40),
                    stages: [visit, stage], last: true),
                .init(name: "A.c", traits: .unstated, stages: nil, last: false),
            ])
        hello.publishes = ["news": "{id: int}", "olds": "text"]
        let read = try Hello(value: hello.value)
        #expect(read.value == hello.value)
        #expect(read.publishes == hello.publishes)
        #expect(read.bindings?.first?.stages == [visit, stage])
        #expect(read.bindings?.first?.traits == hello.bindings?.first?.traits)
        #expect(read.bindings?.last?.traits.replay == nil)
    }

    static let longText = Value.text(String(repeating: "n", count: WireLimits.name + 1))

    static let tooLong: [(hello: Value, field: String)] = [
        (.map(["wire": 1, "name": longText]), "hello.name"),
        (.map(["wire": 1, "build": longText]), "hello.build"),
    ]

    /// wire 6.1
    @Test(arguments: 0..<tooLong.count)
    func `a name or a build that is too long is refused`(_ index: Int) throws {
        let (hello, field) = Self.tooLong[index]
        #expect { try Hello(value: hello) } throws: { "\($0)".contains(field) }
        let text = Value.text(String(repeating: "n", count: WireLimits.name))
        _ = try Hello(value: .map(["wire": 1, "name": text, "build": text]))
    }

    /// wire 6.2
    @Test func `members that this build does not know are passed over`() throws {
        let hello = try Hello(
            value: .map([
                "wire": 1, "future": .map(["a": .array([1])]), "name": "n",
                "bindings": .array([
                    .map([
                        "name": "A.b", "colour": "red",
                        "stages": .array([.map(["kind": "pipe", "symbol": "C.d", "new": true])]),
                    ])
                ]),
            ]))
        #expect(hello.name == "n")
        #expect(hello.bindings?.map(\.name) == ["A.b"])
        #expect(hello.bindings?.first?.stages?.first?.symbol == "C.d")
        var welcome = Welcome(
            epoch: 1, incarnation: 2, regions: ["R"], openCalls: 3, openBytes: 4, pid: 5
        ).value.map
        welcome?["future"] = 1
        #expect(try Welcome(value: .map(welcome ?? [:])).regions == ["R"])
    }

    /// wire 6.1
    @Test func `what is left out has its default`() throws {
        let hello = try Hello(value: .map(["wire": 9]))
        #expect((hello.wire, hello.build, hello.name) == (9, "?", "?"))
        #expect(hello.bindings == nil)
        let bound = try Hello(value: .map(["wire": 1, "bindings": .array([Self.binding])]))
        #expect(bound.bindings?.first?.traits == .unstated)
        #expect(bound.bindings?.first?.last == false)
    }

    static let wrong: [(hello: Value, field: String)] = [
        (.null, "wire"), (.array([]), "wire"), (.map([:]), "wire"),
        (.map(["wire": -1]), "wire"), (.map(["wire": 1.0]), "wire"), (.map(["wire": "1"]), "wire"),
        (.map(["wire": 1, "bindings": .array([.null])]), "name"),
        (.map(["wire": 1, "bindings": .array([.map(["name": ""])])]), "name"),
        (
            .map([
                "wire": 1,
                "bindings": .array([
                    .map(["name": .text(String(repeating: "a", count: WireLimits.name + 1))])
                ]),
            ]), "name"
        ),
        (
            .map(["wire": 1, "bindings": .array([.map(["name": "a", "attempt": -1])])]),
            "deadline"
        ),
        (
            .map([
                "wire": 1, "bindings": .array([.map(["name": "a", "deadline": 4_294_967_296])]),
            ]), "deadline"
        ),
        (
            .map([
                "wire": 1,
                "bindings": .array([
                    .map(["name": "a", "stages": .array([.map(["kind": "loop"])])])
                ]),
            ]), "kind"
        ),
        (
            .map([
                "wire": 1,
                "bindings": .array(
                    Array(repeating: binding, count: WireLimits.bindings + 1)),
            ]), "bindings"
        ),
        (.map(["wire": 1, "publishes": .map(["news": 1])]), "publishes"),
        (.map(["wire": 1, "publishes": .map(["": "int"])]), "publishes"),
    ]

    @Test(arguments: 0..<wrong.count)
    func `a hello that cannot be read names its field`(_ index: Int) {
        let (value, field) = Self.wrong[index]
        let error = #expect(throws: WireError.self) { try Hello(value: value) }
        #expect(error?.description.contains(field) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: ["wire", "epoch", "incarnation", "openCalls", "openBytes", "pid"])
    func `a welcome without one of its numbers names it`(_ key: String) {
        var members =
            Welcome(
                epoch: 1, incarnation: 2, regions: [], openCalls: 3, openBytes: 4, pid: 5
            ).value.map ?? [:]
        members[key] = nil
        let error = #expect(throws: WireError.self) { try Welcome(value: .map(members)) }
        #expect(error?.description.contains(key) == true)
    }
}
