/// Turns the bytes of a terminal into keys. Feed it whatever a read gave: sequences and characters
/// may be cut anywhere, and sequences that mean nothing are dropped. Bytes that are no text in
/// UTF-8, as those of a terminal that is set to another encoding, become U+FFFD: the longest
/// beginning of a character, or one byte that begins none, becomes one of them.
///
/// A lone escape looks like the start of a sequence, so it is held back. When `patience` is not nil
/// and no byte came for that long, `flush()` says what it was.
package struct KeyParser: Sendable {
    /// Milliseconds after which a sequence that has begun is given up.
    package static let sequencePatience = 50
    /// Milliseconds of silence after which a paste without an end is taken as ended.
    package static let pastePatience = 2_000
    /// Bytes of one paste that are kept; the rest of it is dropped.
    package static let mostPasted = 65_536
    /// Bytes of one sequence that are kept; a longer one is dropped as a whole.
    private static let mostParameters = 32

    private enum State: Sendable {
        /// Between keys.
        case ground
        /// After an escape.
        case escape
        /// In a character of several bytes, of which `left` are awaited.
        case character(left: Int, isAlt: Bool)
        /// After `ESC [`.
        case sequence
        /// After `ESC [ [`: a function key of the Linux console.
        case console
        /// After `ESC O`.
        case single
        /// In an answer of the terminal, which ends with BEL or `ESC \`.
        case string(isEscaped: Bool)
        /// In a bracketed paste.
        case paste
    }

    private var state = State.ground
    /// The bytes of what has begun.
    private var held: [UInt8] = []
    /// How much of the mark that ends a paste was seen at the end of it.
    private var matched = 0
    private var keys: [Key] = []
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    package init() {}

    /// Milliseconds to wait for more bytes before `flush()`; nil when nothing is held back.
    package var patience: Int? {
        switch state {
        case .ground: nil
        case .paste: Self.pastePatience
        default: Self.sequencePatience
        }
    }

    /// The keys that these bytes complete.
    package mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
        for byte in bytes { take(byte) }
        defer { keys = [] }
        return keys
    }

    /// Ends what was held back: nothing came after it.
    package mutating func flush() -> [Key] {
        switch state {
        case .escape: keys.append(.escape)
        case .sequence where held.isEmpty: keys.append(.alt("["))
        case .single: keys.append(.alt("O"))
        case .character(_, let isAlt): emit(Self.replacement, isAlt)
        case .paste:
            held += Self.pasteEnd[..<matched]
            endPaste()
        default: break
        }
        reset()
        defer { keys = [] }
        return keys
    }

    private mutating func reset() {
        state = .ground
        held.removeAll()
        matched = 0
    }

    private mutating func take(_ byte: UInt8) {
        switch state {
        case .ground: ground(byte, isAlt: false)
        case .escape: afterEscape(byte)
        case .character(let left, let isAlt): character(byte, left, isAlt)
        case .sequence: sequence(byte)
        case .console:
            reset()
            if (0x41...0x45).contains(byte) { keys.append(.function(Int(byte) - 0x40)) }
        case .single: single(byte)
        case .string(let isEscaped): string(byte, isEscaped)
        case .paste: paste(byte)
        }
    }

    // MARK: - Characters

    private mutating func ground(_ byte: UInt8, isAlt: Bool) {
        reset()
        switch byte {
        case 0x1B: state = .escape
        case 0x20..<0x7F: emit(Unicode.Scalar(byte), isAlt)
        case 0xC2...0xDF: begin(byte, 1, isAlt)
        case 0xE0...0xEF: begin(byte, 2, isAlt)
        case 0xF0...0xF4: begin(byte, 3, isAlt)
        case 0x80...: emit(Self.replacement, isAlt)
        default: control(byte, isAlt)
        }
    }

    private mutating func begin(_ byte: UInt8, _ left: Int, _ isAlt: Bool) {
        held = [byte]
        state = .character(left: left, isAlt: isAlt)
    }

    private mutating func emit(_ scalar: Unicode.Scalar, _ isAlt: Bool) {
        keys.append(isAlt ? .alt(Character(scalar)) : .character(Character(scalar)))
    }

    private mutating func control(_ byte: UInt8, _ isAlt: Bool) {
        switch byte {
        case 0x0D, 0x0A: keys.append(.enter)
        case 0x09: keys.append(.tab)
        case 0x7F, 0x08: keys.append(isAlt ? .deleteWord : .backspace)
        case 0x01...0x1A: keys.append(.control(Character(Unicode.Scalar(byte + 0x60))))
        default: break
        }
    }

    private mutating func character(_ byte: UInt8, _ left: Int, _ isAlt: Bool) {
        guard Self.continues(held, byte) else {
            emit(Self.replacement, isAlt)
            return ground(byte, isAlt: false)
        }
        held.append(byte)
        if left > 1 {
            state = .character(left: left - 1, isAlt: isAlt)
            return
        }
        let text = String(validating: held, as: UTF8.self)
        reset()
        guard let scalar = text?.unicodeScalars.first else { return emit(Self.replacement, isAlt) }
        // A control character of two bytes is text, but no key.
        if scalar.value >= 0xA0 { emit(scalar, isAlt) }
    }

    private static let replacement: Unicode.Scalar = "\u{FFFD}"

    /// Whether a byte may follow what has begun: overlong forms, surrogates and what lies beyond
    /// Unicode are told by their second byte (Unicode 16, table 3-7).
    private static func continues(_ begun: [UInt8], _ byte: UInt8) -> Bool {
        guard begun.count == 1 else { return (0x80...0xBF).contains(byte) }
        return switch begun[0] {
        case 0xE0: (0xA0...0xBF).contains(byte)
        case 0xED: (0x80...0x9F).contains(byte)
        case 0xF0: (0x90...0xBF).contains(byte)
        case 0xF4: (0x80...0x8F).contains(byte)
        default: (0x80...0xBF).contains(byte)
        }
    }

    // MARK: - Sequences

    private mutating func afterEscape(_ byte: UInt8) {
        switch byte {
        case 0x5B: state = .sequence
        case 0x4F: state = .single
        case 0x50, 0x58, 0x5D, 0x5E, 0x5F: state = .string(isEscaped: false)
        case 0x20...: ground(byte, isAlt: true)
        default:
            // Escape, and then another key.
            keys.append(.escape)
            ground(byte, isAlt: false)
        }
    }

    private mutating func sequence(_ byte: UInt8) {
        switch byte {
        case 0x20...0x3F:
            if held.count <= Self.mostParameters { held.append(byte) }
        case 0x5B where held.isEmpty: state = .console
        case 0x40...0x7E:
            let isWhole = held.count <= Self.mostParameters
            let parameters = held
            reset()
            // `CSI R` is the answer to a question for the cursor; F3 is sent as `ESC O R`.
            if isWhole, byte != 0x52 { finish(parameters, byte) }
        default: ground(byte, isAlt: false)
        }
    }

    private mutating func finish(_ parameters: [UInt8], _ final: UInt8) {
        guard parameters.allSatisfy({ (0x30...0x3B).contains($0) }) else { return }
        let numbers = parameters.split(separator: 0x3B, omittingEmptySubsequences: false).map {
            Int(String(decoding: $0.prefix { $0 != 0x3A }, as: UTF8.self)) ?? 0
        }
        let first = numbers.first ?? 0
        // One more than a set of Shift (1), Alt (2) and Control (4).
        let modifiers = numbers.count > 1 ? max(numbers[1], 1) - 1 : 0
        let isWord = modifiers & 6 != 0
        if final == 0x7E {
            if first == 200 { state = .paste } else { numbered(first, isWord) }
        } else {
            lettered(final, isWord)
        }
    }

    private mutating func numbered(_ number: Int, _ isWord: Bool) {
        switch number {
        case 1, 7: keys.append(.home)
        case 2: keys.append(.insert)
        case 3: keys.append(.delete)
        case 4, 8: keys.append(.end)
        case 5: keys.append(.pageUp)
        case 6: keys.append(.pageDown)
        case 11...15: keys.append(.function(number - 10))
        case 17...21: keys.append(.function(number - 11))
        case 23, 24: keys.append(.function(number - 12))
        default: break
        }
    }

    private mutating func lettered(_ letter: UInt8, _ isWord: Bool) {
        switch letter {
        case 0x41: keys.append(.up)
        case 0x42: keys.append(.down)
        case 0x43: keys.append(isWord ? .wordRight : .right)
        case 0x44: keys.append(isWord ? .wordLeft : .left)
        case 0x46: keys.append(.end)
        case 0x48: keys.append(.home)
        case 0x50...0x53: keys.append(.function(Int(letter) - 0x4F))
        case 0x5A: keys.append(.backTab)
        default: break
        }
    }

    private mutating func single(_ byte: UInt8) {
        reset()
        switch byte {
        case 0x4D: keys.append(.enter)
        case 0x41...0x44, 0x46, 0x48, 0x50...0x53: lettered(byte, false)
        case 0x20..<0x7F: break
        default: ground(byte, isAlt: false)
        }
    }

    private mutating func string(_ byte: UInt8, _ isEscaped: Bool) {
        switch byte {
        case 0x07, 0x18, 0x1A: reset()
        case 0x1B: state = .string(isEscaped: true)
        case 0x5C where isEscaped: reset()
        default: state = .string(isEscaped: false)
        }
    }

    // MARK: - Paste

    private mutating func paste(_ byte: UInt8) {
        if byte == Self.pasteEnd[matched] {
            matched += 1
            if matched == Self.pasteEnd.count {
                endPaste()
                reset()
            }
            return
        }
        // The mark begins with its only escape, so nothing but one can start it again.
        keep(Self.pasteEnd[..<matched])
        matched = byte == Self.pasteEnd[0] ? 1 : 0
        if matched == 0 { keep([byte]) }
    }

    private mutating func keep(_ bytes: some Collection<UInt8>) {
        held += bytes.prefix(max(0, Self.mostPasted - held.count))
    }

    private mutating func endPaste() {
        if !held.isEmpty { keys.append(.paste(String(decoding: held, as: UTF8.self))) }
    }
}
