import Glibc
import Testing

@testable import UnixSocket

struct SocketPathTests {
    @Test(arguments: ["a", "photos", "A.b_c-9", String(repeating: "x", count: 64)])
    func `good names make paths`(name: String) throws {
        let path = try SocketPath(name: name, runtimeDirectory: "/run/user/7")
        #expect(path.socket == "/run/user/7/concentric/\(name).sock")
        let fallback = try SocketPath(name: name, runtimeDirectory: nil)
        #expect(fallback.socket == "/tmp/concentric-\(geteuid())/\(name).sock")
        #expect(try SocketPath(name: name, runtimeDirectory: "relative") == fallback)
    }

    @Test(arguments: [
        "", "a/b", "ä", "a b", "a\u{0}", "../x", ".", "..", String(repeating: "x", count: 65),
    ])
    func `bad names are refused`(name: String) {
        let error = #expect(throws: SocketError.self) { try SocketPath(name: name) }
        #expect(error?.code == .badName)
    }

    @Test func `a path that is too long is refused with its length the limit and the variable`() {
        let long = "/" + String(repeating: "d", count: 90)
        let error = #expect(throws: SocketError.self) {
            try SocketPath(name: "photos", runtimeDirectory: long)
        }
        #expect(error?.code == .pathTooLong)
        for part in ["114", "107", "XDG_RUNTIME_DIR", long] {
            #expect(error?.description.contains(part) == true, "\(part) is missing")
        }
    }
}
