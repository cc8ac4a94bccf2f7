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
    /// Leave the terminal; the kernel goes on.
    case quit
    /// Paint the whole screen again.
    case redraw
    /// Leave the terminal to the shell until it brings the client back.
    case suspend

    /// Whether it can be done while the kernel is away.
    var isLocal: Bool { [.quit, .redraw, .suspend].contains(self) }

    /// The slideshow whose configuration it changes.
    var configured: UUID? {
        switch self {
        case .setDuration(let id, _), .setTransition(let id, _), .setLoop(let id, _): id
        default: nil
        }
    }
}
