extension Value {
    /// Reads the JSON that ``json(pretty:)`` prints, and any other that says a value.
    ///
    /// A number without fraction and exponent is an integer if 64 bits hold it, else a double.
    /// Refused are keys that stand twice, half surrogate pairs, numbers that no double holds, more
    /// than ``depthLimit`` levels, and maps with one key that begins with `$` and names no form.
    public static func parse(json: String) throws(JSONError) -> Value {
        var json = json
        let result = json.withUTF8 { text -> Result<Value, JSONError> in
            var parser = JSONParser(text: text)
            do throws(JSONError) {
                return .success(try parser.document())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// What one JSON value says, before it is known whether it stands inside of a form such as
/// `{"$map": …}`.
private struct JSONNode {
    var value: Value
    var isString = false
    /// The members of an object as they are written, whatever form they may be.
    var members: Value.Members?
    /// Why it is refused unless it stands right inside of `$map`.
    var fault: JSONError?
}

/// A cursor over the text of one document.
struct JSONParser {
    let text: UnsafeBufferPointer<UInt8>
    var position = 0
    var depth = 0
    var isDeep = false

    /// Each level of a value may be wrapped once, and a leaf as well.
    static let nestingLimit = 2 * Value.depthLimit + 1

    init(text: UnsafeBufferPointer<UInt8>) {
        self.text = text
    }

    mutating func document() throws(JSONError) -> Value {
        let value = try value()
        skipSpace()
        guard position == text.count else { throw error("more text after the value") }
        if isDeep, value.depth > Value.depthLimit {
            throw error("more than \(Value.depthLimit) levels", at: 0)
        }
        return value
    }

    func error(_ reason: String, at offset: Int? = nil) -> JSONError {
        JSONError(reason, at: offset ?? position, in: text)
    }

    var next: UInt8? {
        position < text.count ? text[position] : nil
    }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    /// Steps over a byte if it is next.
    mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    mutating func value() throws(JSONError) -> Value {
        let node = try node()
        if let fault = node.fault { throw fault }
        return node.value
    }

    private mutating func node() throws(JSONError) -> JSONNode {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"):
            return try nested { parser throws(JSONError) in try parser.object() }
        case UInt8(ascii: "["):
            return try nested { parser throws(JSONError) in JSONNode(value: try parser.array()) }
        case UInt8(ascii: "\""):
            return JSONNode(value: Self.leaf(try string()), isString: true)
        case UInt8(ascii: "t"): return JSONNode(value: try word("true", .bool(true)))
        case UInt8(ascii: "f"): return JSONNode(value: try word("false", .bool(false)))
        case UInt8(ascii: "n"): return JSONNode(value: try word("null", .null))
        case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
            return JSONNode(value: try number())
        case nil: throw error("the text ends where a value must stand")
        default: throw error("no value begins like this")
        }
    }

    private static func leaf(_ string: String) -> Value {
        if let uuid = UUIDBytes(canonical: string.utf8) { return .uuid(uuid) }
        if let date = DateText.parse(canonical: string.utf8) { return .date(date) }
        return .text(string)
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(JSONError) -> JSONNode
    ) throws(JSONError) -> JSONNode {
        guard depth < Self.nestingLimit else { throw error("too many levels") }
        depth += 1
        if depth > Value.depthLimit { isDeep = true }
        let node = try body(&self)
        depth -= 1
        return node
    }

    private mutating func word(_ word: String, _ value: Value) throws(JSONError) -> Value {
        for byte in word.utf8 {
            guard next == byte else { throw error("\"\(word)\" is not complete") }
            position += 1
        }
        return value
    }

    private mutating func array() throws(JSONError) -> Value {
        position += 1
        var items: [Value] = []
        skipSpace()
        if take("]") { return .array(items) }
        while true {
            items.append(try value())
            skipSpace()
            if take("]") { return .array(items) }
            guard take(",") else { throw error("between elements stands a comma") }
        }
    }

    private mutating func object() throws(JSONError) -> JSONNode {
        let start = position
        position += 1
        var members = Value.Members()
        var first: JSONNode?
        skipSpace()
        if take("}") { return JSONNode(value: .map([:]), members: [:]) }
        while true {
            let key = try key(members)
            let node = try node()
            // A first member may be right inside of `$map`; every other is judged at once.
            if let fault = node.fault, key != "$map" || !members.isEmpty { throw fault }
            if members.isEmpty { first = node }
            members[key] = node.value
            skipSpace()
            if take("}") { break }
            guard take(",") else { throw error("between members stands a comma") }
            if let fault = first?.fault { throw fault }
        }
        guard members.count == 1, let key = members.keys.first, let first,
            key.utf8.first == UInt8(ascii: "$")
        else { return JSONNode(value: .map(members), members: members) }
        if let value = Self.form(key, first) { return JSONNode(value: value, members: members) }
        let fault = error("{\"\(key)\": …} is no form; a map is written {\"$map\": …}", at: start)
        return JSONNode(value: .map(members), members: members, fault: fault)
    }

    private mutating func key(_ members: Value.Members) throws(JSONError) -> String {
        skipSpace()
        let start = position
        guard next == UInt8(ascii: "\"") else { throw error("a key is a string") }
        let key = try string()
        guard members[key] == nil else {
            throw error("the key \"\(key)\" stands twice", at: start)
        }
        skipSpace()
        guard take(":") else { throw error("after a key stands a colon") }
        return key
    }

    /// The value that a map of one member stands for.
    private static func form(_ key: String, _ node: JSONNode) -> Value? {
        switch (key, node.value) {
        case ("$map", _): node.members.map { .map($0) }
        case ("$text", .text(let text)) where node.isString: .text(text)
        case ("$text", .uuid(let uuid)) where node.isString: .text(uuid.description)
        case ("$text", .date(let date)) where node.isString: DateText.print(date).map { .text($0) }
        case ("$bytes", .text(let text)) where node.isString: Base64.decode(text).map { .bytes($0) }
        case ("$bytes", .uuid(let uuid)) where node.isString:
            Base64.decode(uuid.description).map { .bytes($0) }
        case ("$date", .int(let date)): .date(date)
        default: nil
        }
    }
}
