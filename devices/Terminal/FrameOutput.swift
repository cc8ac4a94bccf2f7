import Presentation

/// Frames on their way to a terminal that may be slow.
///
/// One frame is written at a time, in full, as fast as the terminal takes it. Frames that are
/// presented meanwhile replace each other: the next one written is the latest, so that a slow
/// terminal falls behind by one frame at most and holds the memory of one.
struct FrameOutput {
    enum Progress: Equatable {
        /// The screen shows the latest frame.
        case done
        /// The terminal takes no more at present.
        case blocked
        /// The terminal is gone.
        case broken
    }

    /// What became of an attempt to write.
    enum Written: Equatable {
        case bytes(Int)
        case blocked
        case broken
    }

    private var renderer: Renderer
    private var latest: Frame?
    /// Whether `latest` was not turned into bytes yet.
    private var isWaiting = false
    private var pending: [UInt8] = []
    private var sent = 0
    private var isBroken = false

    init(usesColor: Bool) {
        renderer = Renderer(usesColor: usesColor)
    }

    /// Whether something waits for the terminal.
    var hasMore: Bool { !isBroken && (isWaiting || sent < pending.count) }

    mutating func present(_ frame: Frame) {
        latest = frame
        isWaiting = true
    }

    /// The whole screen is painted again, after what was begun.
    mutating func redraw() {
        renderer.invalidate()
        isWaiting = latest != nil
    }

    /// The terminal was given away or taken back: what was begun means nothing there any more.
    mutating func restart() {
        pending = []
        sent = 0
        redraw()
    }

    /// Writes until everything is out or the terminal takes no more.
    mutating func pump(_ write: (UnsafeRawBufferPointer) -> Written) -> Progress {
        while !isBroken {
            if sent == pending.count {
                guard isWaiting, let latest else { return .done }
                isWaiting = false
                pending = renderer.bytes(for: latest)
                sent = 0
                continue
            }
            switch pending.withUnsafeBytes({ write(.init(rebasing: $0[sent...])) }) {
            case .bytes(let count): sent = min(sent + max(count, 0), pending.count)
            case .blocked: return .blocked
            case .broken: isBroken = true
            }
        }
        return .broken
    }
}
