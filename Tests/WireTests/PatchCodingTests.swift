import Testing
import Values
import Wire

/// Patches are written and read without their values; the meaning is that of the values.
@Suite struct PatchCodingTests {
    static let patches: [Patch] = [
        Patch(),
        Patch([.remove(["a"])]),
        Patch([.replace([], 1), .replace(["rows", "17", "amount"], -5)]),
        Patch([.add(["a~b", "c/d", ""], ["x": [1, .null, true]]), .test(["é"], 0.5)]),
        Patch([.replace([""], 1), .remove(["", "é", ""]), .add(["~", "/", "~1"], 2)]),
        Patch([.move(from: ["list", "3"], to: ["list", "-"]), .copy(from: [], to: ["whole"])]),
        Patch((0..<300).map { .add(["rows", "\($0)"], ["id": .int(Int64($0))]) }),
    ]

    @Test(arguments: patches)
    func `a patch is the bytes of its value, and is read from them`(_ patch: Patch) throws {
        let bytes = Self.bytes { $0.value(patch.value) }
        #expect(Self.bytes { $0.patch(patch) } == bytes)
        #expect(try Self.read(bytes) == patch)
    }

    /// As values: what is no patch, or one that this build would not write so.
    static let values: [Value] = [
        [["op": "remove", "path": "/a", "note": "unknown members are passed over"]],
        [["op": "add", "path": "/a", "value": 1, "from": "/b"]],
        [["op": "remove", "path": "/a", "value": 1]],
        [["op": "move", "from": "/b", "path": "/a", "value": .null]],
        [["op": "add", "path": "/a"]], [["op": "move", "path": "/a"]],
        [["op": "grow", "path": "/a", "value": 1]], [["op": "grow", "path": "/a"]],
        [["op": "add", "path": "a", "value": 1]], [["op": "add", "path": "/~2", "value": 1]],
        [["op": "test", "from": "/a", "path": "/a"]], [["op": 1, "path": "/a"]],
        [["path": "/a"]], [[:]], [1], ["op": "remove", "path": "/a"], .null,
        [["op": "remove", "path": "/a"], ["op": "remove"]],
    ]

    @Test(arguments: values)
    func `what stands there is judged as its value is`(_ value: Value) {
        let bytes = Self.bytes { $0.value(value) }
        let expected = Result { try Patch(value: value) }
        let found = Result { try Self.read(bytes) }
        switch (expected, found) {
        case (.success(let expected), .success(let found)): #expect(expected == found)
        case (.failure(let expected), .failure(let found)):
            #expect("\(expected)" == "\(found)")
        default: Issue.record("\(found), not \(expected)")
        }
    }

    @Test func `members may stand in any order, and none twice`() throws {
        let turned = Self.bytes {
            $0.array(1)
            $0.map(3)
            for text in ["path", "/a", "value", "v", "op", "add"] { $0.text(text) }
        }
        #expect(try Self.read(turned) == Patch([.add(["a"], "v")]))
        let twice = Self.bytes {
            $0.array(1)
            $0.map(3)
            for text in ["op", "remove", "path", "/a", "path", "/b"] { $0.text(text) }
        }
        #expect(throws: CBORError.self) { try Self.read(twice) }
    }

    @Test func `a path that is no text is refused`() {
        for path: [UInt8] in [
            [0x2F, 0xC3], [0x2F, 0x61, 0x2F, 0xFF, 0x2F], [0x2F, 0x7E, 0x30, 0x80],
        ] {
            let bytes = Self.bytes {
                $0.array(1)
                $0.map(2)
                for text in ["op", "remove", "path"] { $0.text(text) }
                $0.head(3, UInt64(path.count))
                $0.raw(path)
            }
            let error = #expect(throws: CBORError.self) { try Self.read(bytes) }
            #expect(error?.code == .notUTF8)
        }
    }

    @Test func `a value is as deep as in the value of the patch, and no deeper`() throws {
        for depth in 60...64 {
            let deep = (0..<depth).reduce(Value.null) { value, _ in .array([value]) }
            let bytes = Self.bytes { $0.patch(Patch([.add(["a"], deep)])) }
            #expect((try? Self.read(bytes)) != nil || depth > 62, "\(depth)")
            #expect((try? Self.read(bytes)) == nil || depth <= 62, "\(depth)")
        }
    }

    private static func bytes(_ write: (CBORWriter) -> Void) -> [UInt8] {
        let writer = CBORWriter()
        write(writer)
        return writer.bytes
    }

    private static func read(_ bytes: [UInt8]) throws -> Patch {
        try bytes.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            let patch = try reader.patch()
            try reader.finish()
            return patch
        }
    }
}
