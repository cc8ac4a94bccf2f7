/// Whether values of one shape can be read as another: who reads takes the members that it knows
/// and passes over the rest, so two shapes need not be equal as where a value is handed on.
extension Shape {
    /// Whether every value of a shape can be read where another is expected. What is not known of
    /// either counts as if it could.
    public static func reads(_ actual: String, as expected: String) -> Bool {
        if actual == expected || actual.isEmpty || expected.isEmpty { return true }
        return Form(actual).isRead(as: Form(expected))
    }
}

/// A shape, taken apart.
private indirect enum Form {
    case unknown
    case leaf(Substring)
    case array(Form)
    case map(Form)
    /// Members, and whether there may be others.
    case fields([(name: Substring, form: Form)], isOpen: Bool)
    case sequence([Form], isOpen: Bool)
    case optional(Form)

    init(_ text: String) {
        var rest = text[...]
        self = Self.read(&rest, depth: 0)
        // What a newer build writes otherwise is not judged.
        if !rest.isEmpty { self = .unknown }
    }

    /// Deeper than any value may be.
    private static let deepest = 64

    private static func read(_ rest: inout Substring, depth: Int) -> Form {
        guard depth <= deepest else { return .unknown }
        var form: Form
        switch rest.first {
        case "[":
            rest.removeFirst()
            form = .array(read(&rest, depth: depth + 1))
            guard rest.popFirst() == "]" else { return .unknown }
        case "{": form = members(&rest, depth)
        case "(": form = elements(&rest, depth)
        default:
            let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            rest = rest[word.endIndex...]
            form = word.isEmpty || word == unknownWord ? .unknown : .leaf(word)
        }
        while rest.first == "?" {
            rest.removeFirst()
            form = .optional(form)
        }
        return form
    }

    private static let unknownWord = "_"

    private static func members(_ rest: inout Substring, _ depth: Int) -> Form {
        rest.removeFirst()
        var fields: [(name: Substring, form: Form)] = []
        var isOpen = false
        while let first = rest.first, first != "}" {
            if rest.hasPrefix("_}") {
                isOpen = true
                rest.removeFirst()
                continue
            }
            guard let colon = rest.firstIndex(of: ":") else { return .unknown }
            let name = rest[..<colon]
            rest = rest[rest.index(after: colon)...].drop { $0 == " " }
            fields.append((name, read(&rest, depth: depth + 1)))
            rest = rest.drop { $0 == "," || $0 == " " }
            // Whatever cannot be taken apart ends here.
            guard let next = rest.first, next == "}" || rest.contains(":") || next == "_" else {
                return .unknown
            }
        }
        guard rest.popFirst() == "}" else { return .unknown }
        if fields.count == 1, fields[0].name == "*" { return .map(fields[0].form) }
        return .fields(fields, isOpen: isOpen)
    }

    private static func elements(_ rest: inout Substring, _ depth: Int) -> Form {
        rest.removeFirst()
        var forms: [Form] = []
        var isOpen = false
        while let first = rest.first, first != ")" {
            if rest.hasPrefix("_)") {
                isOpen = true
                rest.removeFirst()
                continue
            }
            let before = rest.count
            forms.append(read(&rest, depth: depth + 1))
            rest = rest.drop { $0 == "," || $0 == " " }
            guard rest.count < before else { return .unknown }
        }
        guard rest.popFirst() == ")" else { return .unknown }
        return .sequence(forms, isOpen: isOpen)
    }

    func isRead(as expected: Form) -> Bool {
        switch (self, expected) {
        case (.unknown, _), (_, .unknown): true
        case (.optional(let own), .optional(let other)): own.isRead(as: other)
        case (_, .optional(let other)): isRead(as: other)
        case (.leaf(let own), .leaf(let other)):
            Shape.coarser[own] ?? own == Shape.coarser[other] ?? other
        case (.array(let own), .array(let other)), (.map(let own), .map(let other)):
            own.isRead(as: other)
        case (.fields(let own, _), .map(let other)): own.allSatisfy { $0.form.isRead(as: other) }
        case (.map(let own), .fields(let other, _)): other.allSatisfy { own.isRead(as: $0.form) }
        case (.fields(let own, let isOpen), .fields(let other, _)):
            other.allSatisfy { field in
                if let mine = own.first(where: { $0.name == field.name }) {
                    return mine.form.isRead(as: field.form)
                }
                if case .optional = field.form { return true }
                return isOpen
            }
        case (.sequence(let own, let isOpen), .sequence(let other, let isOtherOpen)):
            (own.count >= other.count || isOpen || isOtherOpen)
                && zip(own, other).allSatisfy { $0.isRead(as: $1) }
        case (.array(let own), .sequence(let other, _)): other.allSatisfy { own.isRead(as: $0) }
        case (.sequence(let own, _), .array(let other)): own.allSatisfy { $0.isRead(as: other) }
        default: false
        }
    }
}
