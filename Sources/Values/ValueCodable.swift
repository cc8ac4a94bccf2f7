// The coders of this project take these types as they are. The conformances below serve every other
// coder, where dates, UUIDs and bytes are whatever that coder makes of them.

import FoundationEssentials

extension Value: Codable {
    /// Writes the value with the means of any coder.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(item) }
            return
        case .map(let members):
            var container = encoder.container(keyedBy: MemberKey.self)
            for (key, member) in members.sorted(by: { $0.key.precedesInBytes($1.key) }) {
                try container.encode(member, forKey: MemberKey(stringValue: key))
            }
            return
        default: break
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let flag): try container.encode(flag)
        case .int(let number): try container.encode(number)
        case .double(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .bytes(let bytes): try container.encode(bytes)
        case .date(let date): try container.encode(Date(milliseconds: date))
        case .uuid(let uuid): try container.encode(UUID(uuid))
        case .null, .array, .map: try container.encodeNil()
        }
    }

    /// Reads what any coder holds; it has no dates, UUIDs and bytes of its own, so they come as
    /// text, numbers and arrays.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: MemberKey.self) {
            var members = Members()
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(Value.self, forKey: key)
            }
            self = .map(members)
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var items: [Value] = []
            while !container.isAtEnd { items.append(try container.decode(Value.self)) }
            self = .array(items)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .int(number)
        } else if let number = try? container.decode(Double.self) {
            self = .double(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    private struct MemberKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension UUIDBytes: Codable {
    /// Writes the UUID as the coder writes UUIDs.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(UUID(self))
    }

    /// Reads a UUID.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(UUID.self))
    }
}

extension Patch: Codable {
    /// Writes the form of RFC 6902.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    /// Reads the form of RFC 6902.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            self = try Patch(value: container.decode(Value.self))
        } catch let error as PatchError {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: error.description)
        }
    }
}
