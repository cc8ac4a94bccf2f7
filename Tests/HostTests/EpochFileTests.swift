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

    private func next(_ now: Int64, _ tell: (String) -> Void) -> UInt64 {
        var file = EpochFile(folders)
        return file.next(now: now, tell: tell)
    }

    private func write(_ text: String) throws {
        let file = try #require(fopen(folders.epoch, "w"))
        fputs(text, file)
        fclose(file)
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
        if let kept { try write(kept) }
        var said: [String] = []
        #expect(next(now) { said.append($0) } == epoch)
        #expect(next(0) { said.append($0) } == epoch + 1)
        #expect(SystemFile.text(folders.epoch) == "\(epoch + 1)\n")
        #expect(said == [])
    }

    @Test func `what cannot be kept is said, and stops nobody`() throws {
        defer { end() }
        #expect(mkdir(folders.epoch, 0o700) == 0)
        var said: [String] = []
        var file = EpochFile(folders)
        #expect(file.next(now: 1_000) { said.append($0) } == 1_000)
        #expect(said.count == 1 && said[0].contains(folders.epoch), "\(said)")
        #expect(access("\(folders.epoch).new", F_OK) != 0)
        // Who watches the folder sees every try, and would try again and again.
        #expect(file.putBack() == nil)
        file.isHopeless = false
        #expect(file.putBack() == said[0])
        rmdir(folders.epoch)
        file.isHopeless = false
        #expect(file.putBack() == nil)
        #expect(SystemFile.text(folders.epoch) == "1000\n")
    }

    @Test(
        arguments: [
            (nil, "1000\n"), ("", "1000\n"), ("999\n", "1000\n"), ("junk", "1000\n"),
            ("18446744073709551615", "1000\n"), ("1000\n", "1000\n"), ("1001\n", "1001\n"),
        ] as [(String?, String)])
    func `what is removed or older is put back while the kernel runs`(
        _ found: String?, _ after: String
    ) throws {
        defer { end() }
        var early = EpochFile(folders)
        #expect(early.putBack() == nil, "there is no number yet")
        #expect(access(folders.epoch, F_OK) != 0)
        var file = EpochFile(folders)
        #expect(file.next(now: 1_000) { Issue.record("\($0)") } == 1_000)
        unlink(folders.epoch)
        if let found { try write(found) }
        #expect(file.putBack() == nil)
        #expect(SystemFile.text(folders.epoch) == after)
    }
}
