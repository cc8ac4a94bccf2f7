import Contract

/// `Compute.Photos.select`: the image files among the candidates that are not there yet, each once,
/// in natural order.
enum PhotoSelection {
    static func select(_ input: SelectPhotos) -> [String] {
        var seen = Set(input.present.map(PathBytes.init))
        return
            input.candidates
            .filter { PhotoFormat(path: $0) != nil && seen.insert(PathBytes($0)).inserted }
            .map(NaturalOrder.init)
            .sorted(by: <)
            .map(\.text)
    }
}

/// The order in which a person would put file names: `img2` before `img10`, whatever the case, and
/// the files of one folder together.
///
/// Digits 0 to 9 compare as numbers of any length, everything else by the bytes of its lower case,
/// a slash before all. What is then still equal (`IMG1`, `img01`) compares by its own bytes, so the
/// order is total and does not depend on the order of the input. An accent that is written as a
/// scalar of its own sorts after its letter rather than with the composed form.
struct NaturalOrder: Comparable {
    let text: String
    private let folded: [UInt8]

    init(_ text: String) {
        self.text = text
        folded = Array(text.lowercased().utf8)
    }

    static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    static func < (left: Self, right: Self) -> Bool {
        let order = compare(left.folded, right.folded)
        if order != 0 { return order < 0 }
        return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    private static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var l = 0
        var r = 0
        while l < left.count, r < right.count {
            let order: Int
            if isDigit(left[l]), isDigit(right[r]) {
                let first = number(in: left, from: &l)
                let second = number(in: right, from: &r)
                // Without leading zeros the longer number is the greater one.
                order =
                    first.count == second.count
                    ? compareBytes(first, second) : first.count - second.count
            } else {
                order = rank(left[l]) - rank(right[r])
                l += 1
                r += 1
            }
            if order != 0 { return order }
        }
        return (left.count - l) - (right.count - r)
    }

    /// The digits from `start` without leading zeros; `start` moves behind them.
    private static func number(in bytes: [UInt8], from start: inout Int) -> ArraySlice<UInt8> {
        let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.endIndex
        defer { start = end }
        return bytes[start..<end].drop { $0 == UInt8(ascii: "0") }
    }

    private static func compareBytes(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Int {
        for (first, second) in zip(left, right) where first != second {
            return Int(first) - Int(second)
        }
        return 0
    }

    private static func rank(_ byte: UInt8) -> Int {
        byte == UInt8(ascii: "/") ? -1 : Int(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
