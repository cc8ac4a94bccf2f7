internal import CLinux
internal import Glibc

/// The page that this device shares with the kernel: signs of life that cost no message.
///
/// A device without the page works all the same and is judged by its answers.
struct StatusPage {
    private let page: UnsafeMutablePointer<clx_page>?

    /// Maps the page that the launch left at its descriptor. The first turn is counted here: a page
    /// without one is taken for a page that nobody keeps.
    init(descriptor: Int32 = Int32(clx_fd_page)) {
        let memory = mmap(
            nil, Int(clx_page_size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let memory, memory != MAP_FAILED else {
            page = nil
            return
        }
        page = memory.assumingMemoryBound(to: clx_page.self)
        if let page { clx_watch_memory(page) }
        awake()
    }

    /// The loop has turned and works.
    func awake() {
        forgetErrors()
        guard let page else { return }
        clx_page_turn(page, page.pointee.turns &+ 1)
    }

    /// The loop is about to wait.
    func asleep() {
        guard let page else { return }
        clx_page_sleep(page)
    }

    /// A visit begins: its code runs.
    func begin(_ visit: UInt64) {
        forgetErrors()
        guard let page else { return }
        clx_page_begin(page, visit)
    }

    /// The code of a visit runs again; 0: it rests.
    func run(_ visit: UInt64) {
        forgetErrors()
        guard let page else { return }
        clx_page_run(page, visit)
    }

    /// A trap is taken for a want of memory when an allocation was the last to fail: what was
    /// refused to other code, which went on without it, must not be what is found then.
    private func forgetErrors() { errno = 0 }
}
