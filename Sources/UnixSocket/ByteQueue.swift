internal import Glibc

/// Bytes that are put in behind and taken out in front: one block of memory and two cursors.
///
/// Invariant: `0 <= start <= end <= capacity`, and `start == end` only where both are 0. The block
/// grows to twice its size when bytes come that do not fit, so that memory follows what was
/// received, and is given back when it runs empty and the traffic no longer needs it.
struct ByteQueue: ~Copyable {
    private var base: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    private var start = 0
    private var end = 0
    /// The most that was held since the block was last judged, and the times that it ran empty
    /// meanwhile.
    private var peak = 0
    private var emptied = 0

    init() {}

    deinit { free(base) }

    var count: Int { end - start }
    var isEmpty: Bool { start == end }
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base.map { UnsafeRawPointer($0 + start) }, count: end - start)
    }

    /// Room for `count` bytes behind the last; what is written there counts after `commit`.
    mutating func reserve(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if capacity - end < count { makeRoom(count) }
        return UnsafeMutableRawBufferPointer(start: base! + end, count: capacity - end)
    }

    mutating func commit(_ count: Int) {
        precondition(count >= 0 && count <= capacity - end)
        end += count
        if end - start > peak { peak = end - start }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count).baseAddress!.copyMemory(from: source, byteCount: bytes.count)
        commit(bytes.count)
    }

    mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= end - start)
        start += count
        if start == end {
            start = 0
            end = 0
            emptied += 1
            if capacity > SocketLimits.keptCapacity { judge() }
        }
    }

    mutating func removeAll() {
        free(base)
        base = nil
        capacity = 0
        start = 0
        end = 0
    }

    /// Moves a small rest out of a large block.
    mutating func shrink() {
        let count = end - start
        guard capacity > SocketLimits.busyCapacity, count <= SocketLimits.smallRest else { return }
        let large = base
        let from = start
        base = nil
        capacity = 0
        start = 0
        end = 0
        if let large { append(UnsafeRawBufferPointer(start: large + from, count: count)) }
        free(large)
    }

    private mutating func makeRoom(_ count: Int) {
        let held = end - start
        // Moving the bytes to the front pays when at least as many were taken out before them.
        if let base, start >= held, capacity - held >= count {
            memmove(base, base + start, held)
            start = 0
            end = held
            return
        }
        let (least, overflow) = held.addingReportingOverflow(count)
        precondition(!overflow && least <= Int.max / 4, "a queue cannot hold that many bytes")
        var size = max(2 * capacity, 4096)
        while size < least { size *= 2 }
        let block: UnsafeMutableRawPointer?
        if let base, start > 0 {
            block = malloc(size)
            if let block { memcpy(block, base + start, held) }
            free(base)
        } else {
            block = realloc(base, size)
        }
        precondition(block != nil, "out of memory")
        base = block
        capacity = size
        start = 0
        end = held
    }

    /// Whether the block, now empty and large, is still worth its memory: at once if very large,
    /// else every 64 times.
    private mutating func judge() {
        if capacity > SocketLimits.busyCapacity || (emptied >= 64 && peak < capacity / 4) {
            removeAll()
        }
        if emptied >= 64 {
            emptied = 0
            peak = 0
        }
    }
}
