package import Contract

/// Everything that the screen shows and everything that the user is in the middle of.
///
/// A deterministic machine: keys and events go in, intents come out, `render` is a function of the
/// state. It knows no terminal, kernel or clock. Nothing that it shows waits for an answer: a
/// command is on its way until its end is told, and meanwhile the screen stays in use.
package struct Model: Sendable, Equatable {
    /// What the model must know about the place where it runs.
    package struct Settings: Sendable, Equatable {
        /// What `~` stands for in a path.
        package var home: String?
        /// Seconds east of UTC, for the times that are shown.
        package var utcOffset: Int

        package init(home: String? = nil, utcOffset: Int = 0) {
            self.home = home
            self.utcOffset = utcOffset
        }
    }

    /// What lies over the screen and takes the keys.
    package enum Overlay: Sendable, Equatable {
        case help(scroll: Int)
        case devices
        case form(Form)
        case confirmDelete(SlideshowSummary)
    }

    /// An intent on its way.
    struct Command: Sendable, Equatable {
        let id: UInt64
        let intent: Intent
        /// What is being done, for the user; nil when it is not worth a word.
        let label: String?
        let errand: Errand?
        /// For how long, as far as the seconds were told.
        var seconds = 0
    }

    /// From so many seconds on the user is told how long it takes.
    static let longCommand = 2

    /// Errors of own commands that wait to be dismissed.
    static let mostOwnErrors = 32
    /// Forms that were sent and are kept, for they may fail.
    static let mostDrafts = 32

    package let settings: Settings
    package internal(set) var size: Size
    package internal(set) var connection = Connection.connecting
    /// It is connected, and says nothing.
    package internal(set) var isSilent = false
    package internal(set) var library = LibraryList()
    /// What the client looks at instead of the library.
    package internal(set) var open: OpenSlideshow?
    package internal(set) var overlay: Overlay?
    /// The past, while the user looks at it.
    package internal(set) var travel: Travel?
    package internal(set) var devices: [DeviceStatus] = []
    package internal(set) var deviceCursor = ListCursor<String>()
    /// The kernel's open slideshow, whoever opened it.
    var region: Slideshow?
    var kernelErrors: [ErrorNotice] = []
    var ownErrors: [ErrorNotice] = []
    /// Which of the two has the newest error.
    var isOwnErrorNewest = false
    var commands: [Command] = []
    var drafts: [Draft] = []
    /// The number of the form that was sent last.
    var lastForm: UInt64 = 0
    /// Errors of errands that may be tried again.
    var failures: [Failure] = []
    /// Errors that the kernel still tells and that are not shown any more.
    var overcome: [ErrorNotice] = []

    package init(size: Size, settings: Settings = Settings()) {
        self.size = size
        self.settings = settings
    }

    /// The error of the banner.
    package var notice: ErrorNotice? {
        isOwnErrorNewest
            ? ownErrors.last ?? kernelErrors.last : kernelErrors.last ?? ownErrors.last
    }

    package var noticeCount: Int { kernelErrors.count + ownErrors.count }

    var isConnected: Bool { connection == .connected }

    /// Whether what is shown may no longer be true.
    var isStale: Bool { !isConnected || library.freshness == .awaited }

    /// What is being done.
    package var activity: String? {
        let shown = commands.filter { $0.label != nil }
        guard let last = shown.last?.label else { return nil }
        let seconds = shown.map(\.seconds).max() ?? 0
        // First, for a narrow screen cuts the end.
        let time = seconds < Self.longCommand ? "" : "\(seconds) s  "
        return time + (shown.count == 1 ? last : "\(last) (+\(shown.count - 1))")
    }

    /// The devices without what only the kernel can know, while it is away.
    var shownDevices: [DeviceStatus] {
        guard !isConnected else { return devices }
        return devices.map { device in
            var device = device
            device.state = .unseen
            device.pid = nil
            return device
        }
    }

    mutating func report(_ notice: ErrorNotice) {
        ownErrors.append(notice)
        if ownErrors.count > Self.mostOwnErrors { ownErrors.removeFirst() }
        isOwnErrorNewest = true
    }

    /// Brings the scrolled lists in line with what fits on the screen.
    mutating func settle() {
        let rows = layout.list.count
        library.cursor.reveal(rows: rows, of: library.rows.count)
        if let count = open?.content?.slides.count { open?.cursor.reveal(rows: rows, of: count) }
        deviceCursor.reveal(rows: DevicePanel.rows(in: size), of: devices.count)
        if case .help(let scroll) = overlay {
            overlay = .help(scroll: min(max(scroll, 0), HelpView.furthestScroll(in: size)))
        }
    }
}
