import Glibc
import Testing

@testable import Installation

@Suite struct InstanceFoldersTests {
    @Test func `the folders of an instance stand below the one that is given`() {
        let folders = InstanceFolders(name: "n", given: "/d")
        #expect(folders.data == "/d")
        #expect(folders.logs == "/d/log")
        #expect(folders.lock == "/d/kernel.lock")
    }

    @Test func `a relative folder is below the working directory`() throws {
        let here = try #require(getcwd(nil, 0))
        defer { free(here) }
        #expect(InstanceFolders(name: "n", given: "d").data == String(cString: here) + "/d")
    }

    @Test func `without one, each instance has its own`() {
        let one = InstanceFolders(name: "one", given: nil)
        #expect(one.data.hasPrefix("/"))
        #expect(one.data.hasSuffix("/concentric/one"))
    }
}
