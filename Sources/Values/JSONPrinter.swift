// The JSON of a value is injective: two values never have the same text, and the parser gives back
// what was printed.
//
//   int       digits                        double    always with "." or an exponent
//   uuid      "1b4e28ba-2fa1-…"             date      "2026-11-30T05:46:59.123Z"
//   bytes     {"$bytes": base64url}         text      a string
//
// What could be taken for something else is wrapped: a text in exactly the form of a UUID or date
// is {"$text": …}, a map whose only key begins with "$" is {"$map": {…}}. A date that RFC 3339
// cannot say is {"$date": milliseconds}; no coder lets one in.

extension Value {
    /// The value as JSON (RFC 8259), keys in the order of their bytes.
    ///
    /// - Parameter pretty: whether each element has its own line, indented by two spaces.
    public func json(pretty: Bool = false) -> String {
        var printer = JSONPrinter(isPretty: pretty)
        printer.print(self)
        return String(decoding: printer.text, as: UTF8.self)
    }
}

private struct JSONPrinter {
    let isPretty: Bool
    var text: [UInt8] = []
    private var indent = 0

    init(isPretty: Bool) {
        self.isPretty = isPretty
    }

    mutating func print(_ value: Value) {
        switch value {
        case .null: put("null")
        case .bool(let flag): put(flag ? "true" : "false")
        case .int(let number): put("\(number)")
        // The description is the shortest text that reads back as the same double.
        case .double(let number): put(number.isFinite ? number.description : "null")
        case .text(let string):
            let isAmbiguous =
                UUIDBytes(canonical: string.utf8) != nil
                || DateText.parse(canonical: string.utf8) != nil
            if isAmbiguous { wrap("$text") { $0.quote(string) } } else { quote(string) }
        case .bytes(let bytes): wrap("$bytes") { $0.quote(Base64.encode(bytes)) }
        case .uuid(let uuid): quote(uuid.description)
        case .date(let date):
            if let string = DateText.print(date) {
                quote(string)
            } else {
                wrap("$date") { $0.put("\(date)") }
            }
        case .array(let items):
            list(items, "[", "]") { $0.print($1) }
        case .map(let members):
            if members.count == 1, members.keys.first?.utf8.first == UInt8(ascii: "$") {
                wrap("$map") { $0.print(members) }
            } else {
                print(members)
            }
        }
    }

    private mutating func print(_ members: Value.Members) {
        list(members.sorted { $0.key.precedesInBytes($1.key) }, "{", "}") { printer, member in
            printer.quote(member.key)
            printer.put(printer.isPretty ? ": " : ":")
            printer.print(member.value)
        }
    }

    private mutating func wrap(_ form: String, _ body: (inout JSONPrinter) -> Void) {
        put("{\"\(form)\":\(isPretty ? " " : "")")
        body(&self)
        put("}")
    }

    private mutating func list<Element>(
        _ elements: [Element], _ open: String, _ close: String,
        _ body: (inout JSONPrinter, Element) -> Void
    ) {
        put(open)
        indent += 1
        for (index, element) in elements.enumerated() {
            if index > 0 { put(",") }
            newLine()
            body(&self, element)
        }
        indent -= 1
        if !elements.isEmpty { newLine() }
        put(close)
    }

    private mutating func newLine() {
        guard isPretty else { return }
        text.append(UInt8(ascii: "\n"))
        text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * indent))
    }

    private mutating func put(_ string: String) {
        text.append(contentsOf: string.utf8)
    }

    private mutating func quote(_ string: String) {
        text.append(UInt8(ascii: "\""))
        defer { text.append(UInt8(ascii: "\"")) }
        let isPlain = string.utf8.allSatisfy { byte in
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"")
                && byte != UInt8(ascii: "\\")
        }
        guard !isPlain else { return put(string) }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": put("\\\"")
            case "\\": put("\\\\")
            case "\n": put("\\n")
            case "\r": put("\\r")
            case "\t": put("\\t")
            case _ where Self.isSteering(scalar.value):
                put("\\u" + UInt16(scalar.value).hexadecimal)
            default: put(String(scalar))
            }
        }
    }

    /// What a terminal would obey instead of showing it: control characters, ends of lines and of
    /// paragraphs, and what turns the direction of text. It is written by its number.
    private static func isSteering(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0..<0x20, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
