import Contract

/// The text that a person gives a slideshow or a slide. It is shown in terminals and lists, so
/// nothing in it may move a cursor, break a line or turn the direction of the text around it.
enum SlideshowText {
    /// In characters as a reader counts them.
    static let maximumCharacters = 200
    /// A character may be made of any number of scalars, so the bytes have a limit of their own.
    static let maximumBytes = 4_096

    /// The name without the space around it.
    static func name(_ text: String) throws(ApplicationError) -> String {
        let name = trimmed(text)
        guard !name.isEmpty else {
            throw ApplicationError(
                code: ApplicationError.Code.invalidName, message: "The name is empty; give one.")
        }
        if let flaw = flaw(of: name) {
            throw ApplicationError(
                code: ApplicationError.Code.invalidName, message: "The name \(flaw).")
        }
        return name
    }

    /// The title without the space around it; none when nothing is left.
    static func title(_ text: String?) throws(ApplicationError) -> String? {
        guard let text else { return nil }
        let title = trimmed(text)
        if let flaw = flaw(of: title) {
            throw ApplicationError(
                code: ApplicationError.Code.invalidTitle, message: "The title \(flaw).")
        }
        return title.isEmpty ? nil : title
    }

    private static func flaw(of text: String) -> String? {
        if text.utf8.count > maximumBytes { return "is longer than \(maximumBytes) bytes" }
        if text.count > maximumCharacters {
            return "is longer than \(maximumCharacters) characters"
        }
        guard let bad = text.unicodeScalars.first(where: isControl) else { return nil }
        return "holds the control character U+\(hexadecimal(bad)); take it out"
    }

    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    /// Joiners stay, for emoji and several scripts are written with them.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default:
            (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
