package import Values

// A patch is an array of maps as RFC 6902 has them. Each commit carries one to the kernel and one
// to every follower, so they are written and read without making values of the maps first. What is
// read so is only what this writes: three members at most, none of them unknown. All else is read
// as a value, so that there is one judge of what is wrong with it.

extension CBORWriter {
    /// A patch; the same bytes as those of its value.
    package func patch(_ patch: Patch) {
        array(patch.operations.count)
        for operation in patch.operations {
            switch operation {
            case .add(let path, let value): self.operation("add", path, value)
            case .replace(let path, let value): self.operation("replace", path, value)
            case .test(let path, let value): self.operation("test", path, value)
            case .remove(let path): self.operation("remove", path)
            case .move(let from, let path): self.operation("move", path, from: from)
            case .copy(let from, let path): self.operation("copy", path, from: from)
            }
        }
    }

    /// The members in the order of RFC 8949 §4.2.1.
    private func operation(
        _ name: String, _ path: Pointer, _ value: Value? = nil, from: Pointer? = nil
    ) {
        map(value == nil && from == nil ? 2 : 3)
        text("op")
        text(name)
        if let from {
            text("from")
            text(from.description)
        }
        text("path")
        text(path.description)
        guard let value else { return }
        text("value")
        self.value(value)
    }
}

extension CBORReader {
    /// A patch in any form that its value may have.
    /// - Throws: `CBORError`, or `PatchError` for a value that is no patch.
    package mutating func patch() throws -> Patch {
        var ahead = self
        if let operations = try? ahead.plainOperations() {
            self = ahead
            return Patch(operations)
        }
        return try Patch(value: try value())
    }

    mutating func patches() throws -> [Patch] {
        var patches: [Patch] = []
        for _ in 0..<(try array()) { patches.append(try patch()) }
        return patches
    }

    private mutating func plainOperations() throws -> [Patch.Operation] {
        let count = try array()
        var operations: [Patch.Operation] = []
        operations.reserveCapacity(min(count, 64))
        for _ in 0..<count { operations.append(try plainOperation()) }
        return operations
    }

    private mutating func plainOperation() throws -> Patch.Operation {
        let count = try map()
        try expect("op")
        let name = try utf8()
        var from: Pointer?
        if count == 3, isNext("from") {
            try expect("from")
            from = try Pointer(parsing: try text())
        }
        try expect("path")
        let path = try Pointer(parsing: try text())
        guard let from else {
            guard count == 3 else {
                guard count == 2, Self.is(name, "remove") else { throw notPlain }
                return .remove(path)
            }
            try expect("value")
            // As deep inside of the patch as it stands in its value.
            let value = try value(depth: 2)
            if Self.is(name, "replace") { return .replace(path, value) }
            if Self.is(name, "add") { return .add(path, value) }
            guard Self.is(name, "test") else { throw notPlain }
            return .test(path, value)
        }
        if Self.is(name, "move") { return .move(from: from, to: path) }
        guard Self.is(name, "copy") else { throw notPlain }
        return .copy(from: from, to: path)
    }

    private var notPlain: CBORError { CBORError(.mismatch, at: position) }

    /// Steps over a text that must be this one.
    private mutating func expect(_ text: StaticString) throws(CBORError) {
        guard Self.is(try utf8(), text) else { throw notPlain }
    }

    private func isNext(_ text: StaticString) -> Bool {
        var ahead = self
        guard let next = try? ahead.utf8() else { return false }
        return Self.is(next, text)
    }

    private static func `is`(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { $0.elementsEqual(bytes) }
    }
}
