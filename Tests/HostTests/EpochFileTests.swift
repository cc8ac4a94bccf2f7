import Glibc
import Installation
import Testing

@testable import Host

/// The number of a start is larger than those before, whatever the clock says.
@Suite struct EpochFileTests {
    private let folders: InstanceFolders

    init() throws {
        var name = Array("/tmp/concentric-epoch-XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&name))
        folders = InstanceFolders(name: "test", given: String(cString: made))
    }

    private func end() {
        for name in ["kernel.epoch", "kernel.epoch.new"] {
            unlink("\(folders.data)/\(name)")
            rmdir("\(folders.data)/\(name)")
        }
        rmdir(folders.data)
    }

    @Test(
        arguments: [
            (nil, 1_000, 1_000), ("900", 1_000, 1_000), ("999", 1_000, 1_000),
            ("1000", 1_000, 1_001),
            ("5000\n", 1_000, 5_001), ("", 1_000, 1_000), ("garbage", 1_000, 1_000),
            ("99999999999999999999", 1_000, 1_000), ("18446744073709551615", 1_000, 1_000),
            (nil, -5, 1), ("7", -5, 8),
        ] as [(String?, Int64, UInt64)])
    func `the next one is the time, or one more than the last`(
        _ kept: String?, _ now: Int64, _ epoch: UInt64
    ) throws {
        defer { end() }
        if let kept {
            let file = try #require(fopen(folders.epoch, "w"))
            fputs(kept, file)
            fclose(file)
        }
        var said: [String] = []
        #expect(EpochFile(folders).next(now: now) { said.append($0) } == epoch)
        #expect(EpochFile(folders).next(now: 0) { said.append($0) } == epoch + 1)
        #expect(SystemFile.text(folders.epoch) == "\(epoch + 1)\n")
        #expect(said == [])
    }

    @Test func `what cannot be kept is said, and stops nobody`() throws {
        defer { end() }
        #expect(mkdir(folders.epoch, 0o700) == 0)
        var said: [String] = []
        #expect(EpochFile(folders).next(now: 1_000) { said.append($0) } == 1_000)
        #expect(said.count == 1 && said[0].contains(folders.epoch), "\(said)")
        #expect(access("\(folders.epoch).new", F_OK) != 0)
    }
}
