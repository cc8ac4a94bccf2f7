import Glibc
import Testing

@testable import Installation

/// Finding manifests among whatever stands in a folder.
@Suite struct ManifestSearchTests {
    static let cases: [(name: String, make: @Sendable (String) -> Void, says: String?)] = [
        ("file", { _ = symlink("../good.json", $0) }, nil),
        ("pipe", { _ = mkfifo($0, 0o600) }, "it is no plain file"),
        ("folder", { _ = mkdir($0, 0o700) }, "it is no plain file"),
        ("endless", { _ = symlink("/dev/zero", $0) }, "it is no plain file"),
    ]

    @Test(.timeLimit(.minutes(20)), arguments: 0..<cases.count)
    func `what is no file in the place of a manifest is named and does not block`(
        _ index: Int
    ) throws {
        let item = Self.cases[index]
        let template = try #require(strdup("/tmp/searchXXXXXX"))
        defer { free(template) }
        let folder = String(cString: try #require(mkdtemp(template)))
        let path = "\(folder)/d/device.json"
        defer {
            if unlink(path) != 0 { rmdir(path) }
            unlink("\(folder)/good.json")
            rmdir("\(folder)/d")
            rmdir(folder)
        }
        mkdir("\(folder)/d", 0o700)
        let good = open("\(folder)/good.json", O_WRONLY | O_CREAT, 0o600)
        _ = #"{"name": "d"}"#.withCString { write(good, $0, strlen($0)) }
        close(good)
        item.make(path)
        let search = try ManifestSearch(given: folder, environment: nil, executable: "/no/program")
        let results = search.scan()
        #expect(results.count == 1)
        switch results.first {
        case .success(let found): #expect(item.says == nil && found.manifest.name == "d")
        case .failure(let error): #expect(error.what == item.says, "\(item.name)")
        case nil: Issue.record("nothing was found")
        }
    }
}
