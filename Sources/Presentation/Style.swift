/// The sixteen colours that every terminal has, and the one that it starts with.
package enum Color: UInt8, Sendable {
    case black
    case red
    case green
    case yellow
    case blue
    case magenta
    case cyan
    case white
    case brightBlack
    case brightRed
    case brightGreen
    case brightYellow
    case brightBlue
    case brightMagenta
    case brightCyan
    case brightWhite
    /// What the user has chosen for their terminal.
    case normal
}

/// How a cell looks.
package struct Style: Sendable, Equatable {
    /// What a terminal shows without any colour.
    package struct Attributes: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let bold = Attributes(rawValue: 1)
        package static let dim = Attributes(rawValue: 2)
        package static let reverse = Attributes(rawValue: 4)
    }

    package var foreground: Color
    package var background: Color
    package var attributes: Attributes

    package init(
        _ foreground: Color = .normal, on background: Color = .normal, _ attributes: Attributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    package static let plain = Style()
    package static let bold = Style(.normal, .bold)
    package static let dim = Style(.normal, .dim)
    package static let title = Style(.normal, [.reverse, .bold])
    package static let selection = Style(.cyan, [.reverse])
    package static let heads = Style(.cyan, .bold)
    package static let alarm = Style(.red, [.reverse, .bold])
    package static let warning = Style(.yellow, [.reverse])
    package static let past = Style(.magenta, [.reverse])

    /// The same style without colours, for a screen that must do without them.
    package var colourless: Style { Style(.normal, attributes) }

    /// The same style, pushed into the background.
    package var dimmed: Style {
        Style(foreground, on: background, attributes.subtracting(.bold).union(.dim))
    }
}
