extension Patch {
    /// The patch in the form of RFC 6902 §3: an array of `{"op", "path", "value", "from"}`.
    public var value: Value {
        .array(operations.map(\.value))
    }

    /// Reads the form of RFC 6902 §3. Members that it does not name are ignored, as §4 wants.
    ///
    /// - Throws: ``PatchError`` with the code `malformed`.
    public init(value: Value) throws(PatchError) {
        guard case .array(let items) = value else {
            throw PatchError(.malformed, at: "", "a patch is an array, not \(value.kind)")
        }
        operations = []
        operations.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            do throws(PatchError) {
                operations.append(try Operation(value: item))
            } catch {
                var error = error
                error.operation = index
                throw error
            }
        }
    }
}

extension Patch.Operation {
    /// The operation as a map of RFC 6902 §4.
    public var value: Value {
        func text(_ path: Pointer) -> Value { .text(path.description) }
        return switch self {
        case .add(let path, let value): ["op": "add", "path": text(path), "value": value]
        case .remove(let path): ["op": "remove", "path": text(path)]
        case .replace(let path, let value): ["op": "replace", "path": text(path), "value": value]
        case .move(let from, let path): ["op": "move", "from": text(from), "path": text(path)]
        case .copy(let from, let path): ["op": "copy", "from": text(from), "path": text(path)]
        case .test(let path, let value): ["op": "test", "path": text(path), "value": value]
        }
    }

    /// Reads a map of RFC 6902 §4.
    ///
    /// - Throws: ``PatchError`` with the code `malformed`.
    public init(value map: Value) throws(PatchError) {
        guard case .map(let members) = map else {
            throw PatchError(.malformed, at: "", "an operation is a map, not \(map.kind)")
        }
        func pointer(_ key: String) throws(PatchError) -> Pointer {
            guard case .text(let text) = members[key] else {
                throw PatchError(.malformed, at: "", "\"\(key)\" holds no text")
            }
            do throws(PointerError) {
                return try Pointer(parsing: text)
            } catch {
                throw PatchError(.malformed, at: text, error.description)
            }
        }
        let path = try pointer("path")
        func operand() throws(PatchError) -> Value {
            guard let value = members["value"] else {
                throw PatchError(.malformed, at: path, "\"value\" is missing")
            }
            return value
        }
        switch members["op"] {
        case .text("add"): self = .add(path, try operand())
        case .text("remove"): self = .remove(path)
        case .text("replace"): self = .replace(path, try operand())
        case .text("move"): self = .move(from: try pointer("from"), to: path)
        case .text("copy"): self = .copy(from: try pointer("from"), to: path)
        case .text("test"): self = .test(path, try operand())
        default: throw PatchError(.malformed, at: path, "\"op\" names none of the six operations")
        }
    }
}
