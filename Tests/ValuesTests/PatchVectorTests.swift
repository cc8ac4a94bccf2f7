import FoundationEssentials
import Testing
import Values

/// A vector of `protocol/vectors/patches.json`; the README beside it describes the format.
struct PatchVector: Sendable, CustomTestStringConvertible {
    let name: String
    let document: Value
    let patch: Value
    let result: Value?
    let error: String?

    var testDescription: String { name }

    static let all: [PatchVector] = {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let file = URL(filePath: "/\(root)/protocol/vectors/patches.json")
        guard let data = try? Data(contentsOf: file),
            let items = try? Value.parse(json: String(decoding: data, as: UTF8.self)).array
        else { return [] }
        return items.map { item in
            PatchVector(
                name: item["name"]?.text ?? "", document: item["document"] ?? .null,
                patch: item["patch"] ?? .null, result: item["result"], error: item["error"]?.text)
        }
    }()
}

struct PatchVectorTests {
    @Test func `all vectors were found, each with a name of its own and one outcome`() {
        #expect(PatchVector.all.count == 123)
        #expect(Set(PatchVector.all.map(\.name)).count == PatchVector.all.count)
        #expect(PatchVector.all.filter { $0.error != nil }.count == 42)
        for vector in PatchVector.all {
            #expect((vector.result == nil) != (vector.error == nil), "\(vector.name)")
        }
    }

    @Test(arguments: PatchVector.all)
    func `a patch comes out as its vector says`(vector: PatchVector) throws {
        guard let result = vector.result else {
            let error = #expect(throws: PatchError.self) {
                try Patch(value: vector.patch).apply(to: vector.document)
            }
            #expect(error?.code.rawValue == vector.error)
            return
        }
        let patch = try Patch(value: vector.patch)
        let (made, inverse) = try patch.applying(to: vector.document)
        #expect(made == result)
        #expect(try inverse.apply(to: made) == vector.document)
        let own = Patch.difference(from: vector.document, to: result)
        #expect(try own.apply(to: vector.document) == result)
    }

    @Test func `an operation with two members op is refused by the parser`() {
        let text = #"[{"op": "add", "path": "/a", "value": 1, "op": "remove"}]"#
        #expect(throws: JSONError.self) { try Value.parse(json: text) }
    }
}
