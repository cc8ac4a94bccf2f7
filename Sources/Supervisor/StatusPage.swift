internal import CLinux
internal import Glibc
internal import UnixSocket

/// The kernel's view of a device's status page.
///
/// The file can neither shrink nor grow, so that a device cannot make the kernel read beyond its
/// end.
struct StatusPage: ~Copyable {
    private let memory: UnsafeMutablePointer<clx_page>

    /// A new memory file for one process.
    static func makeFile() throws(LaunchFailure) -> OwnedDescriptor {
        let number = clx_memfd_create("concentric-status")
        guard number >= 0 else { throw LaunchFailure("cannot make a status page", errno) }
        let file = OwnedDescriptor(owning: number)
        guard ftruncate(number, off_t(clx_page_size)) == 0, clx_memfd_seal(number, 0) == 0
        else { throw LaunchFailure("cannot make a status page", errno) }
        return file
    }

    init(_ file: borrowing OwnedDescriptor) throws(LaunchFailure) {
        let size = Int(clx_page_size)
        guard let address = mmap(nil, size, PROT_READ, MAP_SHARED, file.number, 0),
            address != MAP_FAILED
        else { throw LaunchFailure("cannot map a status page", errno) }
        memory = address.assumingMemoryBound(to: clx_page.self)
    }

    deinit { munmap(memory, Int(clx_page_size)) }

    /// An allocation failed under a limit of memory just before the process trapped.
    var isExhausted: Bool { clx_page_read(memory).exhausted != 0 }

    /// Nil while nobody keeps the page.
    func read() -> PageReading? {
        let page = clx_page_read(memory)
        guard page.turns != 0 else { return nil }
        return PageReading(
            turns: page.turns, asleep: page.asleep != 0, begun: page.begun, running: page.running)
    }
}
