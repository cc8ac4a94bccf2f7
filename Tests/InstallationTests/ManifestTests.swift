import Testing
import Values

@testable import Installation

/// `device.json`: what it may say, and what is said of what it may not.
@Suite struct ManifestTests {
    private func parse(_ json: String) throws -> Manifest {
        try Manifest(json: json, file: "d/device.json")
    }

    @Test func `the least manifest has the defaults of the house`() throws {
        let manifest = try parse(#"{"name": "compute"}"#)
        #expect(manifest.executable == "compute")
        #expect(manifest.role == .device)
        #expect(manifest.restart == .permanent)
        #expect(!manifest.pure)
        #expect(manifest.provides.isEmpty && manifest.calls.isEmpty && manifest.regions.isEmpty)
        #expect(manifest.limits == Manifest.Limits())
        #expect(manifest.startSeconds == nil)
    }

    @Test func `every member is read`() throws {
        let manifest = try parse(
            """
            {"name": "d-1", "executable": "bin/d", "arguments": ["-v"], "environment": {"A": "b"},
             "role": "presentation", "provides": ["D.x"], "calls": ["E.*"], "reads": ["R"],
             "writes": ["W"], "follows": [], "restart": "transient", "sandbox": "pure",
             "instances": 1, "startSeconds": 20, "drainSeconds": 0.5, "termSeconds": 2,
             "regions": [{"name": "W", "initial": {"n": 1}, "scope": "kernel", "history": 8}],
             "limits": {"memory": 25165824, "cpuSeconds": 1, "descriptors": 10, "core": 0}}
            """)
        #expect(manifest.executable == "bin/d")
        #expect(manifest.arguments == ["-v"])
        #expect(manifest.environment == ["A": "b"])
        #expect(manifest.role == .presentation)
        #expect(manifest.restart == .transient)
        #expect(manifest.pure)
        #expect(
            manifest.regions == [
                DeclaredRegion(name: "W", initial: .map(["n": 1]), history: 8)
            ])
        #expect(
            manifest.limits
                == Manifest.Limits(memory: 24 << 20, cpuSeconds: 1, descriptors: 10, core: 0))
        #expect(manifest.startSeconds == 20)
        #expect(manifest.drainSeconds == 0.5)
        #expect((manifest.provides, manifest.calls) == (["D.x"], ["E.*"]))
        #expect((manifest.reads, manifest.writes) == (["R"], ["W"]))
    }

    private static func region(_ member: String) -> String {
        #"{"name": "d", "regions": [{"name": "R", "initial": 1, \#(member)}]}"#
    }

    @Test(arguments: [("", nil), (#""history": 0"#, 0), (#""scope": "kernel""#, nil)])
    func `a region says how much of its past is kept, or nothing`(
        _ member: String, _ history: Int?
    ) throws {
        let manifest = try parse(
            Self.region(member.isEmpty ? #""scope": "kernel""# : member))
        #expect(manifest.regions.map(\.history) == [history])
    }

    static let wrong: [(json: String, named: [String])] = [
        ("", ["not JSON"]), ("[]", ["an object"]), ("{}", ["name", "1 to 64 letters"]),
        (#"{"name": ""}"#, ["name"]), (#"{"name": "a b"}"#, ["name", "a b"]),
        (#"{"name": "../up"}"#, ["name"]),
        (#"{"name": "kernel"}"#, ["name", "“kernel”", "another name"]),
        (#"{"name": "-f"}"#, ["name", "“-f”", "option"]), (#"{"name": ".."}"#, ["name"]),
        (#"{"name": "a\u0000b"}"#, ["name"]), (#"{"name": "é"}"#, ["name"]),
        (#"{"name": 7}"#, ["name", "text"]),
        (#"{"name": "d", "nmae": "e"}"#, ["“nmae”", "provides"]),
        (#"{"name": "d", "zeta": 1, "alpha": 2}"#, ["“alpha”, “zeta”"]),
        (#"{"name": "d", "role": "actor"}"#, ["role", "device or presentation", "actor"]),
        (#"{"name": "d", "restart": "never"}"#, ["restart", "permanent or transient", "never"]),
        (#"{"name": "d", "sandbox": "glass"}"#, ["sandbox", "pure or none"]),
        (#"{"name": "d", "provides": "D.x"}"#, ["provides", "a list of texts"]),
        (#"{"name": "d", "calls": [1]}"#, ["calls", "a list of texts"]),
        (#"{"name": "d", "environment": {"A": 1}}"#, ["environment/A"]),
        (#"{"name": "d", "environment": {"A": "b\u0000c"}}"#, ["environment/A", "NUL"]),
        (#"{"name": "d", "environment": {"A=B": "c"}}"#, ["environment", "A=B"]),
        (#"{"name": "d", "environment": {"": "c"}}"#, ["environment", "names of variables"]),
        (#"{"name": "d", "arguments": ["a\u0000b"]}"#, ["arguments", "NUL"]),
        (#"{"name": "d", "executable": "a\u0000b"}"#, ["executable", "NUL"]),
        (#"{"name": "d", "startSeconds": 0}"#, ["startSeconds", "above 0"]),
        (#"{"name": "d", "termSeconds": "soon"}"#, ["termSeconds"]),
        (#"{"name": "d", "drainSeconds": 86401}"#, ["drainSeconds", "86400"]),
        (#"{"name": "d", "limits": {"memory": -1}}"#, ["limits/memory", "whole number"]),
        (#"{"name": "d", "limits": {"memory": 25165823}}"#, ["limits/memory", "from 25165824"]),
        (#"{"name": "d", "limits": {"cpuSeconds": 0}}"#, ["limits/cpuSeconds", "from 1,"]),
        (#"{"name": "d", "limits": {"descriptors": 9}}"#, ["limits/descriptors", "from 10,"]),
        (#"{"name": "d", "limits": {"core": -1}}"#, ["limits/core", "from 0,"]),
        (#"{"name": "d", "limits": {"memroy": 1}}"#, ["limits has no “memroy”"]),
        (#"{"name": "d", "regions": [{"name": "R"}]}"#, ["regions/R", "initial"]),
        (region(#""history": -1"#), ["regions/R/history", "from 0", "-1"]),
        (region(#""history": 1.5"#), ["regions/R/history", "whole number"]),
        (region(#""history": "all""#), ["regions/R/history", "whole number", "all"]),
        (region(#""history": null"#), ["regions/R/history", "whole number"]),
        (region(#""scope": "session""#), ["regions/R/scope", "“session” is not there yet"]),
        (region(#""scope": "sesion""#), ["regions/R/scope", "expected kernel", "“sesion”"]),
        (region(#""scope": 1"#), ["regions/R/scope", "text"]),
        (#"{"name": "d", "regions": [{"name": "R", "initial": 1, "x": 1}]}"#, ["“x”"]),
        (#"{"name": "d", "regions": [{"initial": 1}]}"#, ["regions/name"]),
        (#"{"name": "d", "regions": {}}"#, ["regions", "a list"]),
        (#"{"name": "d", "follows": ["C"]}"#, ["follows", "a list of objects", "\"C\""]),
        (#"{"name": "d", "instances": 0}"#, ["instances", "from 1 to 64", "0"]),
        (#"{"name": "d", "instances": 65}"#, ["instances", "from 1 to 64", "65"]),
        (#"{"name": "d", "instances": 1.5}"#, ["instances", "whole number"]),
        (#"{"name": "d", "instances": "2"}"#, ["instances", "whole number"]),
        (#"{"name": "d", "instances": null}"#, ["instances", "whole number"]),
        (#"{"name": "d", "role": "presentation", "instances": 2}"#, ["instances", "by the user"]),
    ]

    @Test(arguments: [("", 1), (#", "instances": 1"#, 1), (#", "instances": 64"#, 64)])
    func `a device has one process, or as many as it asks for`(_ more: String, _ count: Int) throws
    {
        let manifest = try parse(#"{"name": "d"\#(more)}"#)
        #expect(manifest.instances == count)
        #expect(manifest.seats.count == count)
    }

    static let seats: [(name: String, device: String, number: Int, file: String)] = [
        ("compute", "compute", 0, "compute"), ("compute/1", "compute", 1, "compute.1"),
        ("a-b_c/64", "a-b_c", 64, "a-b_c.64"), ("kernel", "kernel", 0, "kernel"),
    ]

    @Test(arguments: 0..<seats.count)
    func `a seat is named by its device and its number, in files too`(_ index: Int) {
        let (name, device, number, file) = Self.seats[index]
        #expect(SeatName.device(of: name) == device)
        #expect(SeatName.number(of: name) == number)
        #expect(SeatName.file(of: name) == file)
        #expect(SeatName.name(ofFile: file) == name)
        #expect(SeatName.means(device, name) && SeatName.means(name, name))
        #expect(!SeatName.means("other", name) && !SeatName.means("\(device)/9", name))
    }

    @Test func `a device with one process has one seat of its own name`() {
        #expect(SeatName.all(of: "d", 1) == ["d"])
        #expect(SeatName.all(of: "d", 3) == ["d/1", "d/2", "d/3"])
    }

    @Test(arguments: 0..<wrong.count)
    func `what is wrong is named with its file`(_ index: Int) {
        let (json, named) = Self.wrong[index]
        let error = #expect(throws: ManifestError.self) { try parse(json) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("d/device.json: "))
        for part in named { #expect(text.contains(part), "\(part) in: \(text)") }
    }
}
