internal import Values

/// CBOR as people write it: the diagnostic notation of RFC 8949 §8, for what is only looked at.
///
/// Any bytes give a text: where they end too soon, or are not CBOR, the text ends with `…`.
package enum DiagnosticNotation {
    /// - Parameter limit: bytes of the text, which is cut there.
    package static func text(of bytes: [UInt8], limit: Int) -> String {
        bytes.withUnsafeBytes { raw in
            var reader = CBORReader(raw)
            var text = ""
            let isWhole = item(&reader, &text, limit, depth: 0)
            guard !isWhole || !reader.atEnd || text.utf8.count > limit else { return text }
            while text.utf8.count > limit { text.removeLast() }
            return text + "…"
        }
    }

    private static let deepest = 64

    /// - Returns: false when it does not go on.
    private static func item(
        _ reader: inout CBORReader, _ text: inout String, _ limit: Int, depth: Int
    ) -> Bool {
        guard text.utf8.count <= limit, depth < deepest, let initial = reader.initialByte else {
            return false
        }
        do throws(CBORError) {
            switch initial >> 5 {
            case 0, 1: text += "\(try reader.int())"
            case 2: text += "h'\(hex(try reader.bytes().prefix(limit)))'"
            case 3: text += Value.text(try reader.text()).json()
            case 4:
                // The count may say more than is there.
                return list(Int(clamping: try reader.head().argument), "[", "]", &text) { text in
                    item(&reader, &text, limit, depth: depth + 1)
                }
            case 5:
                return list(Int(clamping: try reader.head().argument), "{", "}", &text) { text in
                    guard item(&reader, &text, limit, depth: depth + 1) else { return false }
                    text += ": "
                    return item(&reader, &text, limit, depth: depth + 1)
                }
            case 6:
                text += "\(try reader.tag())("
                guard item(&reader, &text, limit, depth: depth + 1) else { return false }
                text += ")"
            default:
                if reader.skipNull() {
                    text += "null"
                } else if initial == 0xF4 || initial == 0xF5 {
                    text += "\(try reader.bool())"
                } else {
                    text += "\(try reader.double())"
                }
            }
            return true
        } catch {
            return cutText(&reader, initial, &text, limit)
        }
    }

    /// A text whose end is missing is the most frequent thing in a payload that was cut.
    private static func cutText(
        _ reader: inout CBORReader, _ initial: UInt8, _ text: inout String, _ limit: Int
    ) -> Bool {
        guard initial >> 5 == 3, (try? reader.head()) != nil else { return false }
        let rest = reader.slice(reader.position, reader.position + min(limit, reader.remaining))
        text += Value.text(String(decoding: rest, as: UTF8.self)).json().dropLast()
        return false
    }

    private static func list(
        _ count: Int, _ open: String, _ close: String, _ text: inout String,
        _ element: (inout String) -> Bool
    ) -> Bool {
        text += open
        for index in 0..<count {
            if index > 0 { text += ", " }
            guard element(&text) else { return false }
        }
        text += close
        return true
    }

    private static func hex(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
