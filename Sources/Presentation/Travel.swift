import Contract
package import FoundationEssentials

/// A stay in the past: the regions are shown as they were, and nothing can be changed until the
/// user returns. Others see nothing of it.
package struct Travel: Sendable, Equatable {
    /// Where the user is.
    package struct Moment: Sendable, Equatable {
        package var revision: UInt64
        /// When what is shown was made; nil when that is not kept.
        package var at: Date?
        /// The stage that made it, and its device.
        package var symbol: String?
        package var device: String?
        /// Whether there is nothing earlier, or nothing later.
        package var isOldest: Bool
        package var isLatest: Bool

        package init(
            revision: UInt64, at: Date?, symbol: String?, device: String?, isOldest: Bool,
            isLatest: Bool
        ) {
            self.revision = revision
            self.at = at
            self.symbol = symbol
            self.device = device
            self.isOldest = isOldest
            self.isLatest = isLatest
        }
    }

    /// Nil until the kernel has said where.
    package internal(set) var moment: Moment?
    /// What the user will look at again.
    let open: OpenSlideshow?
    /// The library as it was known when the way began.
    let library: LibraryList

    /// Changes that a large step goes.
    static let stride = 10

    static let refusal = ErrorNotice(
        code: "past", message: "Nothing is changed in the past; esc returns to the present.")
}

extension Model {
    /// Goes to where the regions are as they are now, and may be moved back from.
    mutating func beginTravel() -> [Intent] {
        guard isConnected else { return [.travel(steps: 0)] }
        travel = Travel(moment: nil, open: open, library: library)
        return [.travel(steps: 0)]
    }

    /// Keys that move in time, or in the list that is shown; every other asks for something.
    mutating func inPast(_ key: Key) -> [Intent] {
        switch key {
        case .left, .character("h"): return [.travel(steps: -1)]
        case .right, .character("l"): return [.travel(steps: 1)]
        case .pageUp, .wordLeft: return [.travel(steps: -Travel.stride)]
        case .pageDown, .wordRight: return [.travel(steps: Travel.stride)]
        case .home: return [.travel(steps: .min)]
        case .end: return [.travel(steps: .max)]
        case .escape, .character("T"): return [.present]
        case .character("q"): return [.quit]
        case .character("?"), .function(1): overlay = .help(scroll: 0)
        case .character("D"): overlay = .devices
        case .character("x"): return dismiss()
        default:
            if !isMoved(key) { refuseInPast() }
        }
        return []
    }

    private mutating func isMoved(_ key: Key) -> Bool {
        let page = layout.list.count
        guard var shown = open else { return library.handle(key, page: page) }
        defer { open = shown }
        return shown.handle(key, page: page)
    }

    mutating func refuseInPast() {
        if notice != Travel.refusal { report(Travel.refusal) }
    }

    mutating func travelled(to moment: Travel.Moment) {
        travel?.moment = moment
    }

    /// The slideshow that was looked at is shown while it was the open one, else the library.
    mutating func showPast(_ past: Slideshow?) {
        guard var shown = open ?? travel?.open else { return }
        guard let past, past.id == shown.id else {
            open = nil
            return
        }
        _ = shown.follow(past)
        open = shown
    }

    /// The kernel has gone with the past that it showed: what is shown is the present that was
    /// known last.
    mutating func loseTravel() {
        guard let travel else { return }
        library = travel.library
        endTravel()
    }

    /// The user is back where the travel began.
    mutating func endTravel() {
        guard let travel else { return }
        self.travel = nil
        ownErrors.removeAll { $0 == Travel.refusal }
        library.resume(travel.library.cursor)
        open = travel.open
        follow(region)
    }
}
