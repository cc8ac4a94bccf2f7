/// Where a key stands from another one: shorter keys first, those of one length by their bytes.
enum KeyOrder {
    case before
    case same
    case after

    init(_ key: String, _ other: String) {
        let (count, otherCount) = (key.utf8.count, other.utf8.count)
        guard count == otherCount else {
            self = count < otherCount ? .before : .after
            return
        }
        // The same text, or up to 15 bytes that are the same: both lie in the two words of a
        // string.
        if unsafeBitCast(key, to: (UInt64, UInt64).self)
            == unsafeBitCast(other, to: (UInt64, UInt64).self)
        {
            self = .same
            return
        }
        let order = key.utf8.withContiguousStorageIfAvailable { key in
            other.utf8.withContiguousStorageIfAvailable { other in
                KeyOrder(UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(other))
            }
        }
        self = (order ?? nil) ?? KeyOrder(slowly: key, other)
    }

    /// Compares as many bytes of one as of the other, eight at a time.
    private init(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 8 <= left.count {
            let (here, there) = (
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            guard here == there else {
                self = here.bigEndian < there.bigEndian ? .before : .after
                return
            }
            offset += 8
        }
        while offset < left.count {
            guard left[offset] == right[offset] else {
                self = left[offset] < right[offset] ? .before : .after
                return
            }
            offset += 1
        }
        self = .same
    }

    /// Compares texts that do not lie in one piece of memory.
    private init(slowly left: String, _ right: String) {
        if left.utf8.elementsEqual(right.utf8) {
            self = .same
        } else {
            self = left.utf8.lexicographicallyPrecedes(right.utf8) ? .before : .after
        }
    }
}
