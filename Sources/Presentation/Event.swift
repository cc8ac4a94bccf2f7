package import Contract
package import FoundationEssentials

/// Why something failed, as it is shown.
package struct ErrorNotice: Sendable, Equatable {
    package var code: String
    package var message: String
    /// What was called, if that is known.
    package var symbol: String?
    /// The flow that has failed, if the kernel tells it.
    package var flow: String?

    package init(code: String, message: String, symbol: String? = nil, flow: String? = nil) {
        self.flow = flow
        self.code = code
        self.message = message
        self.symbol = symbol
    }

    /// Whether both tell of one failure: a command's own answer is repeated in `Kernel.Errors`.
    func tellsTheSame(as other: ErrorNotice) -> Bool {
        code == other.code && message == other.message
    }
}

/// How the client stands with the kernel.
package enum Connection: Sendable, Equatable {
    /// Never connected so far.
    case connecting
    case connected
    /// It was lost and is tried again; the reason in words, if there is one.
    case away(String?)
    /// It was refused and is not tried again; the reason in words.
    case refused(String)
}

/// What has happened outside of the model.
package enum Event: Sendable, Equatable {
    case resize(Size)
    case connection(Connection)
    /// The region with the list of the library.
    case library([SlideshowSummary], isLoading: Bool)
    /// The region with the open slideshow.
    case slideshow(Slideshow?)
    /// All devices, in the order of the kernel.
    case devices([DeviceStatus])
    /// All errors that the kernel keeps, the newest last.
    case errors([ErrorNotice])
    /// An intent is on its way; `id` is the caller's. A create names the id that it has chosen, so
    /// that the new slideshow is selected when it appears.
    case commandStarted(id: UInt64, Intent, creates: UUID? = nil)
    /// The command has ended, well when the error is nil.
    case commandFinished(id: UInt64, ErrorNotice?)
    /// The regions are shown as they were.
    case travelled(Travel.Moment)
    /// They are those of now again.
    case present
}
