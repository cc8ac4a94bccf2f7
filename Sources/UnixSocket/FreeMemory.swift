internal import CLinux

/// Memory that was used once and is free now.
package enum FreeMemory {
    /// Gives it back to the system, which the allocator does by itself only at the end of its heap.
    /// - Complexity: linear in the heap; some milliseconds for a gigabyte.
    package static func giveBack() { clx_trim_memory() }

    /// Has the allocator keep what one payload after the other needs.
    ///
    /// The C library's gives the end of its heap back whenever `known / 8` are free there, and asks
    /// for it again for the next payload: a visit of 64 KiB then costs a device three system calls
    /// and dozens of page faults. It learns to keep twice the size of the largest block that was
    /// ever freed by itself, so it is shown one, of which no page is touched.
    package static func keepSome() {
        UnsafeMutableRawPointer.allocate(byteCount: known, alignment: 16).deallocate()
    }

    private static let known = 1 << 20
}
