import Testing
import Values

struct PatchTests {
    struct Case: CustomTestStringConvertible {
        var name: String
        var document: Value
        var operations: [Patch.Operation]
        var result: Value
        var testDescription: String { name }
    }

    // The first ones are the examples of RFC 6902, appendix A.
    static let valid: [Case] = [
        Case(
            name: "A.1 adding a member", document: ["foo": "bar"],
            operations: [.add(["baz"], "qux")], result: ["baz": "qux", "foo": "bar"]),
        Case(
            name: "A.2 adding an element", document: ["foo": ["bar", "baz"]],
            operations: [.add(["foo", "1"], "qux")], result: ["foo": ["bar", "qux", "baz"]]),
        Case(
            name: "A.3 removing a member", document: ["baz": "qux", "foo": "bar"],
            operations: [.remove(["baz"])], result: ["foo": "bar"]),
        Case(
            name: "A.4 removing an element", document: ["foo": ["bar", "qux", "baz"]],
            operations: [.remove(["foo", "1"])], result: ["foo": ["bar", "baz"]]),
        Case(
            name: "A.5 replacing", document: ["baz": "qux", "foo": "bar"],
            operations: [.replace(["baz"], "boo")], result: ["baz": "boo", "foo": "bar"]),
        Case(
            name: "A.6 moving a member",
            document: ["foo": ["bar": "baz", "waldo": "fred"], "qux": ["corge": "grault"]],
            operations: [.move(from: ["foo", "waldo"], to: ["qux", "thud"])],
            result: ["foo": ["bar": "baz"], "qux": ["corge": "grault", "thud": "fred"]]),
        Case(
            name: "A.7 moving an element", document: ["foo": ["all", "grass", "cows", "eat"]],
            operations: [.move(from: ["foo", "1"], to: ["foo", "3"])],
            result: ["foo": ["all", "cows", "eat", "grass"]]),
        Case(
            name: "A.8 testing", document: ["baz": "qux", "foo": ["a", 2, "c"]],
            operations: [.test(["baz"], "qux"), .test(["foo", "1"], 2)],
            result: ["baz": "qux", "foo": ["a", 2, "c"]]),
        Case(
            name: "A.14 escapes", document: ["/": 9, "~1": 10],
            operations: [.test(["~1"], 10)], result: ["/": 9, "~1": 10]),
        Case(
            name: "A.16 adding at the end", document: ["foo": ["bar"]],
            operations: [.add(["foo", "-"], ["abc", "def"])],
            result: ["foo": ["bar", ["abc", "def"]]]),
        Case(
            name: "add over a member", document: ["a": 1], operations: [.add(["a"], 2)],
            result: ["a": 2]),
        Case(
            name: "add at the count", document: [1], operations: [.add(["1"], 2)], result: [1, 2]),
        Case(
            name: "the whole value", document: [1], operations: [.add([], 2), .replace([], 3)],
            result: 3),
        Case(
            name: "move over a member", document: ["a": [1, 2], "b": 3],
            operations: [.move(from: ["a", "0"], to: ["b"])], result: ["a": [2], "b": 1]),
        Case(
            name: "move shifts the target", document: [1, ["y": 2], ["z": 3]],
            operations: [.move(from: ["0"], to: ["1", "w"])], result: [["y": 2], ["z": 3, "w": 1]]),
        Case(
            name: "move to the root", document: ["a": ["b": 1], "c": 2],
            operations: [.move(from: ["a", "b"], to: [])], result: 1),
        Case(
            name: "move to its parent", document: ["a": ["b": 1, "c": 2]],
            operations: [.move(from: ["a", "b"], to: ["a"])], result: ["a": 1]),
        Case(
            name: "move onto itself", document: ["a": 1],
            operations: [.move(from: ["a"], to: ["a"])], result: ["a": 1]),
        Case(
            name: "copy into its own child", document: ["a": ["b": 1]],
            operations: [.copy(from: ["a"], to: ["a", "c"])],
            result: ["a": ["b": 1, "c": ["b": 1]]]),
        Case(
            name: "numbers are tested by value", document: ["a": [1, 2.0]],
            operations: [.test(["a"], [1.0, 2])], result: ["a": [1, 2.0]]),
    ]

    @Test(arguments: valid)
    func `a patch applies and its inverse leads back`(_ entry: Case) throws {
        let patch = Patch(entry.operations)
        let (result, inverse) = try patch.applying(to: entry.document)
        #expect(result == entry.result)
        #expect(try patch.apply(to: entry.document) == entry.result)
        #expect(try inverse.apply(to: result) == entry.document)
        #expect(try patch.inverse(on: entry.document) == inverse)
        #expect(try Patch(value: patch.value) == patch)
        #expect(try Patch(value: Value.parse(json: patch.value.json())) == patch)
    }

    static let refused: [(Value, [Patch.Operation], PatchError.Code)] = [
        (["a": 1], [.remove(["b"])], .notFound),
        (["a": 1], [.replace(["b"], 1)], .notFound),
        (["a": 1], [.add(["b", "c"], 1)], .notFound),
        (["a": 1], [.add(["a", "c"], 1)], .notFound),
        (["a": 1], [.move(from: ["b"], to: ["c"])], .notFound),
        (["a": 1], [.copy(from: ["b"], to: ["c"])], .notFound),
        (["a": 1], [.test(["b"], 1)], .notFound),
        (["a": 1], [.test(["a"], 2)], .testFailed),
        (["a": 1], [.test(["a"], "1")], .testFailed),
        (["a": ["b": 1]], [.move(from: ["a"], to: ["a", "b"])], .impossible),
        (["a": 1], [.move(from: [], to: ["a"])], .impossible),
        (["a": 1], [.remove([])], .impossible),
        ([1], [.add(["2"], 1)], .notFound),
        ([1], [.remove(["1"])], .notFound),
        ([1], [.remove(["-"])], .badIndex),
        ([1], [.replace(["-"], 1)], .badIndex),
        ([1], [.add(["00"], 1)], .badIndex),
        ([1], [.add(["01"], 1)], .badIndex),
        ([1], [.add(["1e0"], 1)], .badIndex),
        ([1], [.add(["-1"], 1)], .badIndex),
        ([[1]], [.add(["-", "0"], 1)], .badIndex),
    ]

    @Test(arguments: refused.indices)
    func `a patch that cannot apply is refused as a whole`(index: Int) {
        let (document, operations, code) = Self.refused[index]
        let patch = Patch([.add([], document), .test([], document)] + operations)
        let error = #expect(throws: PatchError.self) { try patch.apply(to: .null) }
        #expect(error?.code == code)
        #expect(error?.operation == 2)
    }

    @Test func `a patch can make a value neither too deep nor too large`() throws {
        var deepest: Value = []
        for _ in 1..<Value.depthLimit { deepest = [deepest] }
        let bottom = Pointer(Array(repeating: "0", count: Value.depthLimit))
        let deeper: [Patch.Operation] = [
            .add(bottom, []), .add(["0"], deepest), .copy(from: [], to: ["0"]),
            .move(from: ["1"], to: ["0", "0", "0"]), .replace(["0"], deepest),
        ]
        #expect(try Patch([.add(bottom, 1)]).apply(to: deepest).depth == Value.depthLimit)
        for operation in deeper {
            let document: Value = operation == deeper[3] ? [deepest[0]!, deepest[0]!] : deepest
            let error = #expect(throws: PatchError.self) {
                try Patch([operation]).apply(to: document)
            }
            #expect(error?.code == .tooLarge)
        }

        let text = Value.text(String(repeating: "x", count: 1 << 20))
        let bomb = Patch((0..<40).map { .copy(from: ["0"], to: ["\($0 + 1)"]) })
        let error = #expect(throws: PatchError.self) { try bomb.apply(to: [text]) }
        #expect(error?.code == .tooLarge)
    }

    @Test(arguments: [
        "{}", "[1]", #"[{"op":"add","value":1}]"#, #"[{"op":"add","path":"/a"}]"#,
        #"[{"op":"spam","path":"/a"}]"#, #"[{"path":"/a"}]"#, #"[{"op":"move","path":"/a"}]"#,
        #"[{"op":"remove","path":"a"}]"#, #"[{"op":"test","path":"/a"}]"#,
        #"[{"op":"copy","path":"/a","from":1}]"#, #"[{"op":1,"path":"/a"}]"#,
    ])
    func `what is no patch is refused`(json: String) throws {
        let value = try Value.parse(json: json)
        let error = #expect(throws: PatchError.self) { try Patch(value: value) }
        #expect(error?.code == .malformed)
    }

    @Test func `members that RFC 6902 does not name are ignored`() throws {
        let value = try Value.parse(json: #"[{"op":"remove","path":"/a","xyz":123}]"#)
        #expect(try Patch(value: value) == Patch([.remove(["a"])]))
    }
}
