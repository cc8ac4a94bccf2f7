import Contract
import FoundationEssentials

// How the values of the contract stand in the columns of the library file.

extension UUID {
    /// The canonical form in lower case, so that a person can paste an id into a query.
    var stored: String { uuidString.lowercased() }
}

extension Date {
    /// The last milliseconds that a calendar of four-digit years can name, either way. Peers send
    /// dates, and a number that is none must not trap.
    private static let farthest: Double = 253_402_300_799_999

    var storedMilliseconds: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        guard !milliseconds.isNaN else { return 0 }
        return Int64(min(max(milliseconds, -Self.farthest), Self.farthest))
    }

    init(storedMilliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(storedMilliseconds) / 1_000)
    }
}

extension Row {
    /// The configuration in three columns: duration, transition, loop.
    func config(at column: Int32) throws(DatabaseError) -> Config {
        Config(
            duration: try parsed(column, Config.Duration.init(rawValue:)),
            transition: try parsed(column + 1, Config.Transition.init(rawValue:)),
            loop: try integer(column + 2) != 0)
    }
}

/// Whether both would be stored as the same rows. Text compares by its bytes: `==` takes two paths
/// for one when they differ only in how an accent is written.
func isIdentical(_ left: Slideshow, _ right: Slideshow) -> Bool {
    left.id == right.id && isIdentical(left.name, right.name) && left.config == right.config
        && left.createdAt.storedMilliseconds == right.createdAt.storedMilliseconds
        && left.slides.count == right.slides.count
        && zip(left.slides, right.slides).allSatisfy { isIdentical($0, $1) }
}

/// The same for one slide; its position is where it stands in the slideshow.
func isIdentical(_ left: Slide, _ right: Slide) -> Bool {
    left.id == right.id && left.duration == right.duration && isIdentical(left.photo, right.photo)
        && isIdentical(left.title ?? "", right.title ?? "")
        && (left.title == nil) == (right.title == nil)
}

private func isIdentical(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
}
