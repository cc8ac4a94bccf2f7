import Control
import Testing
import Values

@testable import DeviceKit

/// What the kernel says of a preview.
@Suite struct PreviewTests {
    static let change: Value = [
        "revision": "7-4", "at": .date(1_000), "flow": "7-9", "symbol": "A.b", "device": "a",
        "operations": .int(1), "bytes": .int(80),
    ]

    @Test func `a place in the past has its revision, its change and its ends`() throws {
        let place = try Preview([
            "revision": "7-5", "oldest": "7-2", "latest": "7-5", "change": Self.change,
        ])
        #expect(place.revision == Revision(epoch: 7, counter: 5))
        #expect(place.change?.revision == Revision(epoch: 7, counter: 4))
        #expect(place.change?.at == 1_000)
        #expect(place.change?.symbol == "A.b" && place.change?.device == "a")
        #expect(place.isLatest && !place.isOldest)
        let first = try Preview([
            "revision": "7-2", "oldest": "7-2", "latest": "7-5", "change": .null,
        ])
        #expect(first.change == nil)
        #expect(first.isOldest && !first.isLatest)
    }

    @Test(
        arguments: [
            [:], ["revision": "7-5", "oldest": "7-2"],
            ["revision": "7", "oldest": "1", "latest": "2"],
            ["revision": .int(5), "oldest": "7-2", "latest": "7-5"],
        ] as [Value])
    func `what is no place in the past is refused`(_ value: Value) {
        let error = #expect(throws: KernelError.self) { try Preview(value) }
        #expect(error?.code == .malformed)
    }

    @Test(
        arguments: [
            ("r", 5, false), ("r", 6, true), ("r", 4, true), ("Kernel.Errors", 6, false),
            ("Kernel", 6, true),
        ] as [(String, UInt64, Bool)])
    func `a region at another revision shows that the preview has ended`(
        _ region: String, _ counter: UInt64, _ isEnded: Bool
    ) throws {
        let place = try Preview([
            "revision": "7-5", "oldest": "7-2", "latest": "7-5", "change": .null,
        ])
        #expect(place.isEnded(by: region, at: counter) == isEnded)
    }

    @Test(
        arguments: [
            ("7-5", 7, 5), ("0-0", 0, 0), ("18446744073709551615-1", .max, 1),
        ] as [(String, UInt64, UInt64)])
    func `a revision is read from its text`(_ text: String, _ epoch: UInt64, _ counter: UInt64) {
        #expect(Revision(text) == Revision(epoch: epoch, counter: counter))
    }

    @Test(arguments: [
        "", "-", "7", "7-", "-5", "7-5-", "7-5-6", "a-5", "7-b", "+7-5", "7-+5", " 7-5", "7--5",
        "18446744073709551616-1",
    ])
    func `a text that is no revision is none`(_ text: String) {
        #expect(Revision(text) == nil)
    }
}
