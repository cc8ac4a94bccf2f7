extension JSONParser {
    mutating func number() throws(JSONError) -> Value {
        let start = position
        var isInteger = true
        _ = take("-")
        if !take("0") {
            guard takeDigits() else { throw error("a number has a digit here") }
        }
        if take(".") {
            isInteger = false
            guard takeDigits() else { throw error("after the point stands a digit") }
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            guard takeDigits() else { throw error("an exponent has a digit here") }
        }
        let digits = String(decoding: text[start..<position], as: UTF8.self)
        if isInteger, let int = Int64(digits) { return .int(int) }
        guard let double = Double(digits), double.isFinite else {
            throw error("no double holds this number", at: start)
        }
        return .double(double)
    }

    private mutating func takeDigits() -> Bool {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return position > start
    }

    mutating func string() throws(JSONError) -> String {
        let start = position
        position += 1
        var run = position
        var built: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                let last = text[run..<position]
                position += 1
                if built.isEmpty { return String(decoding: last, as: UTF8.self) }
                built.append(contentsOf: last)
                return String(decoding: built, as: UTF8.self)
            case UInt8(ascii: "\\"):
                built.append(contentsOf: text[run..<position])
                let scalar = try escape()
                built.append(contentsOf: scalar.utf8)
                run = position
            case 0..<0x20:
                throw error("a control character stands in a string only as an escape")
            default:
                position += 1
            }
        }
        throw error("the string does not end", at: start)
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let letter = next else { throw error("the string does not end", at: start) }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(start)
        default: throw error("no escape has this letter", at: start)
        }
    }

    private mutating func unicodeEscape(_ start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try hex(start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u") else {
            throw error("half of a surrogate pair", at: start)
        }
        let second = try hex(start)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw error("half of a surrogate pair", at: start) }
        return scalar
    }

    private mutating func hex(_ start: Int) throws(JSONError) -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("\\u has four hexadecimal digits", at: start)
            }
            number = number << 4 | UInt32(digit)
            position += 1
        }
        return number
    }
}
