/// Text that may go to a terminal, cut into cells.
///
/// Names and paths come from outside and may hold anything. A terminal obeys control characters,
/// so this is the only way by which text reaches a frame, literals included:
///
/// - control characters, line separators, direction overrides, noncharacters and unassigned scalars
///   are shown as U+FFFD, so that a reader sees that something is there;
/// - joiners, variation selectors, skin tones and other format characters are left out: terminals
///   count the cells of what they join in different ways, and a wrong count breaks a whole row;
/// - a mark joins the cell before it, `marksPerCell` at most.
package struct SafeText: Sendable, Equatable {
    /// What stands in one cell, or in a wide one.
    package struct Glyph: Sendable, Equatable {
        package var text: String
        /// 1 or 2.
        package var width: Int
        /// Whether a terminal may have moved its cursor by another width.
        package var isDisputed: Bool
    }

    static let marksPerCell = 3
    /// The widest text that is laid out; no row is wider.
    static let mostColumns = Size.mostColumns
    /// Scalars read for each column before the rest is given up: text of nothing but marks ends.
    private static let scalarsPerColumn = 16

    package private(set) var glyphs: [Glyph] = []
    /// The cells that all glyphs take.
    package private(set) var width = 0

    /// Lays text out in at most `columns` cells; what does not fit ends in "…".
    package init(_ text: String, fitting columns: Int = SafeText.mostColumns) {
        let columns = min(max(columns, 0), Self.mostColumns)
        var marks = 0
        var left = (columns + 1) * Self.scalarsPerColumn
        for scalar in text.unicodeScalars {
            left -= 1
            if width > columns || left < 0 { break }
            if scalar.value >= 0x20, scalar.value < 0x7F {
                append(Glyph(text: String(scalar), width: 1, isDisputed: false))
                marks = 0
            } else if Self.isReplaced(scalar) {
                append(Glyph(text: "\u{FFFD}", width: 1, isDisputed: true))
                marks = 0
            } else if TextWidth.joins(scalar) {
                if marks < Self.marksPerCell, Self.isShown(mark: scalar), !glyphs.isEmpty {
                    glyphs[glyphs.count - 1].text.unicodeScalars.append(scalar)
                    glyphs[glyphs.count - 1].isDisputed = true
                    marks += 1
                }
            } else if !Self.isSkinTone(scalar) || glyphs.last?.width != 2 {
                append(
                    Glyph(
                        text: String(scalar), width: TextWidth.of(scalar),
                        isDisputed: TextWidth.isDisputed(scalar)))
                marks = 0
            }
        }
        if width > columns || left < 0 { truncate(to: columns) }
    }

    private mutating func append(_ glyph: Glyph) {
        glyphs.append(glyph)
        width += glyph.width
    }

    private mutating func truncate(to columns: Int) {
        while width > columns - 1, let last = glyphs.popLast() { width -= last.width }
        if columns > 0 { append(Glyph(text: "…", width: 1, isDisputed: false)) }
    }

    private static func isReplaced(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate: return true
        default: return false
        }
    }

    private static func isShown(mark: Unicode.Scalar) -> Bool {
        switch mark.value {
        case 0xFE00...0xFE0F, 0xE0100...0xE01EF: false
        default: mark.properties.generalCategory != .format
        }
    }

    private static func isSkinTone(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F3FB...0x1F3FF).contains(scalar.value)
    }
}

extension SafeText {
    /// The text cut into lines of at most `columns` cells, at spaces where there are any; what does
    /// not fit in `lines` of them ends in "…".
    package static func wrap(_ text: String, columns: Int, lines: Int) -> [String] {
        guard columns > 0, lines > 0 else { return [] }
        var rest = SafeText(text, fitting: columns * lines + columns).glyphs[...]
        var found: [String] = []
        while !rest.isEmpty, found.count < lines {
            var width = 0
            var end = rest.startIndex
            while end < rest.endIndex, width + rest[end].width <= columns {
                width += rest[end].width
                end += 1
            }
            if found.count == lines - 1 {
                found.append(SafeText(joined(rest), fitting: columns).text)
                return found
            }
            if end < rest.endIndex, rest[end].text != " ",
                let space = rest[..<end].lastIndex(where: { $0.text == " " }),
                space > rest.startIndex
            {
                end = space
            }
            // A wide glyph in a single column still moves on.
            if end == rest.startIndex { end += 1 }
            found.append(joined(rest[..<end]))
            rest = rest[end...].drop { $0.text == " " }
        }
        return found
    }

    /// The text that is shown.
    package var text: String { Self.joined(glyphs[...]) }

    private static func joined(_ glyphs: ArraySlice<Glyph>) -> String {
        var text = ""
        for glyph in glyphs { text += glyph.text }
        return text
    }
}
