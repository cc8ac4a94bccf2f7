#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes CBOR (RFC 8949, definite lengths only) into one growing buffer.
///
/// Integers and lengths take their shortest head; doubles always take eight bytes. A container
/// whose count is not known yet is opened with one byte of head, which is patched when it is
/// closed.
package final class CBORWriter {
    // The cursors change with every byte; dynamic exclusivity checks would be half of the time.
    @exclusivity(unchecked) private var base: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) package private(set) var count = 0

    package init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        base = .allocate(byteCount: self.capacity, alignment: 8)
    }

    deinit {
        base.deallocate()
    }

    @inline(never)
    private func grow(_ need: Int) {
        let larger = max(capacity * 2, count + need)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        fresh.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = fresh
        capacity = larger
    }

    @inline(__always)
    private func reserve(_ need: Int) {
        if capacity - count < need { grow(need) }
    }

    /// Forgets what was written; the memory stays.
    package func reset() {
        count = 0
    }

    /// Forgets what was written and gives the memory back.
    package func forget() {
        base.deallocate()
        capacity = 16
        count = 0
        base = .allocate(byteCount: capacity, alignment: 8)
    }

    /// Forgets what was written after a position.
    package func truncate(to position: Int) {
        count = min(count, max(0, position))
    }

    /// A copy of what was written.
    package var bytes: [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: base, count: count))
    }

    /// What was written; valid until the next write.
    package var written: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: count)
    }

    /// Lends what was written.
    package func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// The head of an item: a major type of 0 to 7 and its argument in the shortest form.
    @inline(__always)
    package func head(_ major: UInt8, _ argument: UInt64) {
        reserve(9)
        let at = base + count
        let type = major << 5
        if argument < 24 {
            at.storeBytes(of: type | UInt8(truncatingIfNeeded: argument), as: UInt8.self)
            count += 1
        } else if argument <= 0xFF {
            at.storeBytes(of: type | 24, as: UInt8.self)
            (at + 1).storeBytes(of: UInt8(truncatingIfNeeded: argument), as: UInt8.self)
            count += 2
        } else if argument <= 0xFFFF {
            at.storeBytes(of: type | 25, as: UInt8.self)
            (at + 1).storeBytes(
                of: UInt16(truncatingIfNeeded: argument).bigEndian, as: UInt16.self)
            count += 3
        } else if argument <= 0xFFFF_FFFF {
            at.storeBytes(of: type | 26, as: UInt8.self)
            (at + 1).storeBytes(
                of: UInt32(truncatingIfNeeded: argument).bigEndian, as: UInt32.self)
            count += 5
        } else {
            at.storeBytes(of: type | 27, as: UInt8.self)
            (at + 1).storeBytes(of: argument.bigEndian, as: UInt64.self)
            count += 9
        }
    }

    @inline(__always)
    func byte(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inline(__always)
    package func uint(_ value: UInt64) {
        head(0, value)
    }

    @inline(__always)
    package func int(_ value: Int64) {
        // -1 - n is ~n: the argument of a negative integer is its complement.
        if value >= 0 {
            head(0, UInt64(bitPattern: value))
        } else {
            head(1, UInt64(bitPattern: ~value))
        }
    }

    @inline(__always)
    package func bool(_ value: Bool) {
        byte(value ? 0xF5 : 0xF4)
    }

    @inline(__always)
    package func null() {
        byte(0xF6)
    }

    /// A double of eight bytes; the reader refuses what is not finite.
    @inline(__always)
    package func double(_ value: Double) {
        reserve(9)
        base.storeBytes(of: 0xFB, toByteOffset: count, as: UInt8.self)
        (base + count + 1).storeBytes(of: value.bitPattern.bigEndian, as: UInt64.self)
        count += 9
    }

    /// Bytes that are CBOR already, or the content after a head.
    @inline(__always)
    package func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    /// Bytes that are CBOR already.
    package func raw(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { raw($0) }
    }

    @inline(__always)
    package func bytes(_ bytes: UnsafeRawBufferPointer) {
        head(2, UInt64(bytes.count))
        raw(bytes)
    }

    package func bytes(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { self.bytes($0) }
    }

    @inline(__always)
    package func text(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            head(3, UInt64(utf8.count))
            raw(UnsafeRawBufferPointer(utf8))
        }
    }

    /// A text that the program holds.
    @inline(__always)
    func word(_ text: StaticString) {
        head(3, UInt64(text.utf8CodeUnitCount))
        raw(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// The head of an array; `count` items follow.
    @inline(__always)
    package func array(_ count: Int) {
        head(4, UInt64(count))
    }

    /// The head of a map; `count` pairs of key and value follow.
    @inline(__always)
    package func map(_ count: Int) {
        head(5, UInt64(count))
    }

    /// A tag for the item that follows.
    @inline(__always)
    package func tag(_ tag: UInt64) {
        head(6, tag)
    }

    /// Begins a frame: four bytes for its length, which ``closeFrame(_:)`` writes.
    @inline(__always)
    package func openFrame() -> Int {
        reserve(4)
        count += 4
        return count - 4
    }

    /// Writes the length of the frame that began at a position: big-endian, not counting itself.
    @inline(__always)
    package func closeFrame(_ position: Int) {
        let length = UInt32(truncatingIfNeeded: count - position - 4)
        (base + position).storeBytes(of: length.bigEndian, as: UInt32.self)
    }

    /// Begins a container of unknown count; the position is for ``close(_:major:count:)``.
    @inline(__always)
    package func open() -> Int {
        byte(0)
        return count - 1
    }

    /// Patches the head of the innermost open container. Content moves only for more than 23 items.
    package func close(_ position: Int, major: UInt8, count items: Int) {
        if items < 24 {
            base.storeBytes(
                of: major << 5 | UInt8(truncatingIfNeeded: items), toByteOffset: position,
                as: UInt8.self)
            return
        }
        let extra = items <= 0xFF ? 1 : items <= 0xFFFF ? 2 : 4
        reserve(9)
        let content = base + position + 1
        memmove(content + extra, content, count - position - 1)
        let end = count + extra
        count = position
        head(major, UInt64(items))
        count = end
    }
}
