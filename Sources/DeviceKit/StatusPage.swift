internal import CLinux
internal import Glibc

/// The page that this device shares with the kernel: signs of life that cost no message.
///
/// Four numbers of 64 bits: loop turns, asleep, the highest visit begun, the visit whose code runs
/// now. A device without the page works all the same and is judged by its answers.
struct StatusPage {
    private let words: UnsafeMutablePointer<UInt64>?

    /// Maps the page that the launch left at descriptor 5.
    init(descriptor: Int32 = 5) {
        let memory = mmap(
            nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let memory, memory != MAP_FAILED else {
            words = nil
            return
        }
        words = memory.assumingMemoryBound(to: UInt64.self)
    }

    /// The loop has turned and works.
    func awake() {
        guard let words else { return }
        words[1] = 0
        words[0] &+= 1
    }

    /// The loop is about to wait.
    func asleep() {
        words?[1] = 1
    }

    /// A visit begins: its code runs.
    func begin(_ visit: UInt64) {
        guard let words else { return }
        words[2] = visit
        words[3] = visit
    }

    /// The code of a visit runs; 0 for none.
    func run(_ visit: UInt64) {
        words?[3] = visit
    }
}
