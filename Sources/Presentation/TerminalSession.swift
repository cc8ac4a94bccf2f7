/// What a terminal is told when the screen begins and ends. Constants in static memory, so that a
/// signal handler can write them.
package enum TerminalSession {
    /// Alternate screen, no line wrap, bracketed paste, no cursor, all attributes off, blank.
    package static let enter: StaticString =
        "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h\u{1B}[?25l\u{1B}[0m\u{1B}[2J\u{1B}[H"

    /// Undoes all of it, and the synchronized output of a frame that was cut off. It begins with an
    /// escape, which ends any sequence that was cut off.
    package static let leave: StaticString =
        "\u{1B}[?2026l\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Holds what follows back until `endUpdate`, where a terminal knows how (mode 2026).
    static let beginUpdate = Array("\u{1B}[?2026h".utf8)
    static let endUpdate = Array("\u{1B}[?2026l".utf8)
    static let hideCursor = Array("\u{1B}[?25l".utf8)
    static let showCursor = Array("\u{1B}[?25h".utf8)
    static let clear = Array("\u{1B}[0m\u{1B}[H\u{1B}[2J".utf8)
    static let clearToEnd = Array("\u{1B}[K".utf8)
}
