internal import CLinux

/// Memory that was used once and is free now.
package enum FreeMemory {
    /// Gives it back to the system, which the allocator does by itself only at the end of its heap.
    /// - Complexity: linear in the heap; some milliseconds for a gigabyte.
    package static func giveBack() { clx_trim_memory() }
}
