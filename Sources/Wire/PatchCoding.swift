package import Values

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
    @inline(__always)
    private func operation(
        _ name: StaticString, _ path: Pointer, _ value: Value? = nil, from: Pointer? = nil
    ) {
        map(value == nil && from == nil ? 2 : 3)
        word("op")
        word(name)
        if let from {
            word("from")
            pointer(from)
        }
        word("path")
        pointer(path)
        guard let value else { return }
        word("value")
        self.value(value)
    }

    /// A pointer's text, which is not made first.
    private func pointer(_ pointer: Pointer) {
        var size = 0
        for token in pointer.tokens {
            size += 1 + token.utf8.count
            for byte in token.utf8 where byte == tilde || byte == slash { size += 1 }
        }
        head(3, UInt64(size))
        for token in pointer.tokens {
            byte(slash)
            for byte in token.utf8 {
                switch byte {
                case tilde:
                    self.byte(tilde)
                    self.byte(UInt8(ascii: "0"))
                case slash:
                    self.byte(tilde)
                    self.byte(UInt8(ascii: "1"))
                default: self.byte(byte)
                }
            }
        }
    }
}

private let slash = UInt8(ascii: "/")
private let tilde = UInt8(ascii: "~")

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
            from = try pointer()
        }
        try expect("path")
        let path = try pointer()
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

    /// A pointer. Where nothing in its text is escaped, as in nearly all, only the tokens are made.
    private mutating func pointer() throws -> Pointer {
        var ahead = self
        let text = try ahead.utf8()
        guard text.first == slash, !text.contains(tilde) else {
            return try Pointer(parsing: try self.text())
        }
        var tokens: [String] = []
        var rest = text.dropFirst()
        while true {
            let end = rest.firstIndex(of: slash) ?? rest.endIndex
            let token = UnsafeRawBufferPointer(rebasing: rest[..<end])
            guard let token = String(utf8: token) else { throw notPlain }
            tokens.append(token)
            guard end < rest.endIndex else { break }
            rest = rest[(end + 1)...]
        }
        self = ahead
        return Pointer(tokens)
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
        let count = text.utf8CodeUnitCount
        guard bytes.count == count, let start = bytes.baseAddress else { return false }
        return memcmp(start, text.utf8Start, count) == 0
    }
}
