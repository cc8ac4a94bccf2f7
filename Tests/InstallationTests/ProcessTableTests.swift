import Glibc
import Testing

@testable import Installation

@Suite struct ProcessTableTests {
    static let lists: [(text: String, numbers: [Int32])] = [
        ("", []),
        ("41234 ", [41_234]),
        ("41234 41235 ", [41_234, 41_235]),
        // What was cut off is the number of a stranger.
        ("41234 412", [41_234]),
        ("412", []),
        (" ", []),
    ]

    @Test(arguments: 0..<lists.count)
    func `the last number of a list of children counts only when it is whole`(_ index: Int) {
        #expect(ProcessTable.numbers(Self.lists[index].text) == Self.lists[index].numbers)
    }

    static let environments: [(text: String, origin: ProcessTable.Origin?)] = [
        ("", nil),
        ("PATH=/bin\0CONCENTRIC_NAME=main\0", nil),
        ("CONCENTRIC_DATA=/d\0CONCENTRIC_INCARNATION=3\0", nil),
        ("A=CONCENTRIC_DEVICE=x\0", nil),
        ("CONCENTRIC_DEVICE=d\0", .init(device: "d", incarnation: nil, data: nil)),
        (
            "CONCENTRIC_DATA=/d\0CONCENTRIC_DEVICE=d\0CONCENTRIC_INCARNATION=12\0",
            .init(device: "d", incarnation: 12, data: "/d")
        ),
        (
            "CONCENTRIC_DEVICE=d\0CONCENTRIC_INCARNATION=99999999999999999999\0",
            .init(device: "d", incarnation: nil, data: nil)
        ),
    ]

    @Test(arguments: 0..<environments.count)
    func `an environment says from which device a process comes`(_ index: Int) {
        let (text, origin) = Self.environments[index]
        #expect(ProcessTable.origin(environment: text) == origin)
    }

    @Test func `this process is a child of its parent and runs its own program`() throws {
        #expect(ProcessTable.ancestors(of: getpid()).prefix(2) == [getpid(), getppid()])
        #expect(ProcessTable.user(of: getpid()) == geteuid())
        #expect(ProcessTable.user(of: -1) == nil)
        let program = try #require(InstanceFolders.program.split(separator: "/").last)
        #expect(ProcessTable.runs(String(program), getpid()))
        #expect(!ProcessTable.runs("concentric-kernel", getpid()))
        #expect(!ProcessTable.runs(String(program), -1))
        #expect(ProcessTable.state(of: -1) == "")
        #expect(ProcessTable.children(of: -1) == nil)
    }
}
