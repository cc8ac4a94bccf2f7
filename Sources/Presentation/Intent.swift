package import Contract
package import FoundationEssentials

/// What the user wants done. The device that owns the terminal carries it out and tells the model
/// how it went.
package enum Intent: Sendable, Equatable {
    /// A new slideshow of the images in a folder; the path is absolute.
    case create(name: String, folder: String)
    case rename(UUID, name: String)
    case delete(UUID)
    case open(UUID)
    /// Nothing is open any more.
    case close
    /// More photos, from a file or folder; the path is absolute.
    case addPhotos(UUID, path: String)
    case setDuration(UUID, Config.Duration)
    case setTransition(UUID, Config.Transition)
    case setLoop(UUID, Bool)
    /// Read the library again.
    case refresh
    /// Forget the errors that the kernel has told so far.
    case dismissError
    case restart(device: String)
    /// Look at the past, or go on in it: so many changes forward, or, below 0, back.
    case travel(steps: Int)
    /// Return to the present.
    case present
    /// Leave the terminal; the kernel goes on.
    case quit
    /// Paint the whole screen again.
    case redraw
    /// Leave the terminal to the shell until it brings the client back.
    case suspend

    /// Whether it can be done while the kernel is away.
    var isLocal: Bool { [.quit, .redraw, .suspend].contains(self) }

    /// Whether it can be done while the user looks at the past.
    var isPast: Bool {
        switch self {
        case .travel, .present: true
        default: isLocal
        }
    }

    /// The slideshow whose configuration it changes.
    var configured: UUID? {
        switch self {
        case .setDuration(let id, _), .setTransition(let id, _), .setLoop(let id, _): id
        default: nil
        }
    }
}
