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
    /// The key under which it was asked for, if who asked has chosen one.
    package var key: String?

    package init(
        code: String, message: String, symbol: String? = nil, flow: String? = nil,
        key: String? = nil
    ) {
        self.flow = flow
        self.key = key
        self.code = code
        self.message = message
        self.symbol = symbol
    }

    /// Whether both tell of one failure: a command's own answer is repeated in `Kernel.Errors`. Two
    /// flows that fail in the same words are two failures.
    func tellsTheSame(as other: ErrorNotice) -> Bool {
        guard code == other.code, message == other.message else { return false }
        return flow == nil || other.flow == nil || flow == other.flow
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
    /// Whether the kernel has not answered for some seconds what it answers at once.
    case silence(Bool)
    /// The kernel is another one than before: what the old one had accepted and not done is lost.
    case kernelIsNew
    /// The region with the list of the library.
    case library([SlideshowSummary], isLoading: Bool)
    /// The region with the open slideshow.
    case slideshow(Slideshow?)
    /// All devices, in the order of the kernel.
    case devices([DeviceStatus])
    /// All errors that the kernel keeps, the newest last.
    case errors([ErrorNotice])
    /// An intent is on its way; `id` is the caller's. A create names the id that it has chosen, so
    /// that the new slideshow is selected when it appears; what is dispatched names its key, by
    /// which its failure is known.
    case commandStarted(id: UInt64, Intent, creates: UUID? = nil, key: String? = nil)
    /// A second has passed, while something is on its way, or may be.
    case second
    /// The command has ended, well when the error is nil.
    case commandFinished(id: UInt64, ErrorNotice?)
    /// The regions are shown as they were.
    case travelled(Travel.Moment)
    /// They are those of now again.
    case present
}
