extension Value {
    /// The bytes that this takes as the canonical CBOR of the wire.
    ///
    /// - Complexity: linear.
    package var encodedSize: Int {
        switch self {
        case .null, .bool: 1
        case .int(let value): Self.head(value < 0 ? ~UInt64(bitPattern: value) : UInt64(value))
        case .double: 9
        case .text(let text): Self.head(UInt64(text.utf8.count)) + text.utf8.count
        case .bytes(let bytes): Self.head(UInt64(bytes.count)) + bytes.count
        case .date: 10
        case .uuid: 19
        case .array(let items):
            items.reduce(Self.head(UInt64(items.count))) { $0 + $1.encodedSize }
        case .map(let members):
            Self.size(of: members)
        }
    }

    private static func size(of members: Members) -> Int {
        head(UInt64(members.count)) + size(of: members.root)
    }

    private static func size(of node: MemberNode) -> Int {
        var sum = 0
        for index in node.members.indices {
            let length = node.members[index].key.utf8.count
            sum += head(UInt64(length)) + length + node.members[index].value.encodedSize
        }
        for index in node.children.indices { sum += size(of: node.children[index].node) }
        return sum
    }

    /// The bytes of the head of an item.
    private static func head(_ argument: UInt64) -> Int {
        switch argument {
        case 0..<24: 1
        case 24...0xFF: 2
        case 0x100...0xFFFF: 3
        case 0x1_0000...0xFFFF_FFFF: 5
        default: 9
        }
    }
}
