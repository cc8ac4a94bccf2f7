/// What the user has done on the keyboard.
package enum Key: Sendable, Equatable {
    /// A printable scalar; never a control character. U+FFFD stands for bytes that are no text in
    /// UTF-8.
    case character(Character)
    /// A letter or sign with Control, in lower case.
    case control(Character)
    /// A printable scalar with Alt.
    case alt(Character)
    /// Text of a bracketed paste, as the terminal sent it: it may hold control characters.
    case paste(String)
    /// F1 is 1.
    case function(Int)
    case enter
    case tab
    case backTab
    case escape
    case backspace
    case delete
    case insert
    case up
    case down
    case left
    case right
    case wordLeft
    case wordRight
    case deleteWord
    case home
    case end
    case pageUp
    case pageDown

    /// What it types.
    var text: String? {
        switch self {
        case .character(let character): String(character)
        case .paste(let text): text
        default: nil
        }
    }
}
