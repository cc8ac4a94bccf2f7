import CLinux
import Glibc
import Testing

@testable import Shell

/// What is printed, and where it goes.
@Suite struct OutputTests {
    @Test func `a pipe that does not wait gets everything`() throws {
        var ends: [Int32] = [0, 0]
        #expect(clx_pipe(&ends, 0) == 0)
        let reading = ends[0]
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        var thread = pthread_t()
        let context = UnsafeMutableRawPointer(bitPattern: Int(reading) + 1)
        let error = pthread_create(
            &thread, nil,
            { context in
                let descriptor = Int32(Int(bitPattern: context) - 1)
                var block = [UInt8](repeating: 0, count: 10_000)
                var total = 0
                while true {
                    let count = read(descriptor, &block, block.count)
                    guard count > 0 else { break }
                    total += count
                }
                return UnsafeMutableRawPointer(bitPattern: total)
            }, context)
        try #require(error == 0)
        let text = String(repeating: "x", count: 1 << 20)
        #expect(Output.put(text, on: ends[1]) == 0)
        close(ends[1])
        var total: UnsafeMutableRawPointer?
        pthread_join(thread, &total)
        close(reading)
        #expect(Int(bitPattern: total) == text.utf8.count)
    }

    @Test func `what cannot be written is told by its number`() {
        let full = open("/dev/full", O_WRONLY)
        #expect(Output.put("x", on: full) == ENOSPC)
        close(full)
        #expect(Output.put("x", on: -1) == EBADF)
        #expect(Output.put("", on: -1) == 0)
    }
}
