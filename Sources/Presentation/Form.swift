package import Contract
package import FoundationEssentials

/// A form over the screen: fields with an edit line each, and what is wrong with them.
package struct Form: Sendable, Equatable {
    package enum Purpose: Sendable, Equatable {
        case create
        case rename(SlideshowSummary)
        case addPhotos(UUID, name: String)

        /// Whether it is about the same thing, whatever its name is now.
        func isLike(_ other: Purpose) -> Bool {
            switch (self, other) {
            case (.create, .create): true
            case (.rename(let one), .rename(let two)): one.id == two.id
            case (.addPhotos(let one, _), .addPhotos(let two, _)): one == two
            default: false
            }
        }
    }

    package struct Field: Sendable, Equatable {
        package enum Kind: Sendable, Equatable {
            case name
            case path
        }

        package let label: String
        package let kind: Kind
        package var line: EditLine
    }

    /// Characters that a name may have.
    static let longestName = 200

    package let purpose: Purpose
    package private(set) var fields: [Field]
    package private(set) var focus = 0
    /// What is wrong, in words; nothing while the user types.
    package var message: String?
    /// Of those that were sent; a corrected one keeps its own. Nil for a new one.
    var number: UInt64?

    /// What is wrong while the kernel is away.
    static let away = "The kernel is away; what you typed stays here."
    static let deleted = "This slideshow was deleted meanwhile."
    private static let notText =
        "\u{FFFD} stands where something came that is not UTF-8: set the terminal to UTF-8."
    private static let tooLong =
        "A line holds \(EditLine.mostBytes) bytes; the rest was left out."

    init(_ purpose: Purpose) {
        self.purpose = purpose
        switch purpose {
        case .create:
            fields = [
                Field(label: "Name", kind: .name, line: EditLine()),
                Field(label: "Folder", kind: .path, line: EditLine()),
            ]
        case .rename(let summary):
            fields = [Field(label: "Name", kind: .name, line: EditLine(summary.name))]
        case .addPhotos:
            fields = [Field(label: "Path", kind: .path, line: EditLine())]
        }
    }

    package var title: String {
        switch purpose {
        case .create: "New slideshow"
        case .rename(let summary): "Rename “\(summary.name)”"
        case .addPhotos(_, let name): "Add photos to “\(name)”"
        }
    }

    enum Answer: Equatable {
        case stays
        case cancelled
        case submitted(Intent?)
    }

    mutating func handle(_ key: Key, home: String?) -> Answer {
        switch key {
        case .escape: return .cancelled
        case .enter: return submit(home)
        case .tab, .down, .control("n"): focus = (focus + 1) % fields.count
        case .backTab, .up, .control("p"): focus = (focus + fields.count - 1) % fields.count
        default: type(key)
        }
        return .stays
    }

    /// What was not taken as it came is said, and what stands for it as long as it is there.
    private mutating func type(_ key: Key) {
        let isShown = message == Self.notText
        guard fields[focus].line.handle(key) else { return }
        message = nil
        if fields[focus].line.isCut {
            message = Self.tooLong
        } else if isShown || key.text?.contains("\u{FFFD}") == true,
            fields.contains(where: { $0.line.text.contains("\u{FFFD}") })
        {
            message = Self.notText
        }
    }

    /// Turns to the first field that is wrong; a form without one becomes an intent, or nothing
    /// when it changes nothing.
    private mutating func submit(_ home: String?) -> Answer {
        var values: [String] = []
        for (index, field) in fields.enumerated() {
            switch field.kind == .name
                ? Self.name(field.line.text) : Self.path(field.line.text, home)
            {
            case .success(let value): values.append(value)
            case .failure(let problem):
                focus = index
                message = problem.message
                return .stays
            }
        }
        switch purpose {
        case .create: return .submitted(.create(name: values[0], folder: values[1]))
        case .rename(let summary):
            let isSame = values[0] == summary.name
            return .submitted(isSame ? nil : .rename(summary.id, name: values[0]))
        case .addPhotos(let id, _): return .submitted(.addPhotos(id, path: values[0]))
        }
    }

    // MARK: - Validation

    struct Problem: Error, Equatable {
        let message: String
    }

    static func name(_ text: String) -> Result<String, Problem> {
        let name = trimmed(text)
        if name.isEmpty { return .failure(Problem(message: "A name is needed.")) }
        if name.count > longestName {
            return .failure(
                Problem(
                    message: "The name has \(name.count) characters; it may have \(longestName)."))
        }
        return .success(name)
    }

    /// An absolute path. Quotes around it, which a terminal adds to a dropped file, are taken off.
    static func path(_ text: String, _ home: String?) -> Result<String, Problem> {
        var path = trimmed(text)
        if path.count > 1, let quote = path.first, quote == path.last, "'\"".contains(quote) {
            path = String(path.dropFirst().dropLast())
        }
        if path.isEmpty { return .failure(Problem(message: "A path is needed.")) }
        if path == "~" || path.hasPrefix("~/") {
            guard let home, home.hasPrefix("/") else {
                return .failure(Problem(message: "~ is not known here; begin the path with /."))
            }
            return .success(home + path.dropFirst())
        }
        guard path.hasPrefix("/") else {
            return .failure(Problem(message: "The path must begin with / or ~/."))
        }
        return .success(path)
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
