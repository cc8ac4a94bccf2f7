package import Contract
package import FoundationEssentials

/// The slideshow that this client looks at.
///
/// The kernel knows one open slideshow for all clients. This client follows it while it is the one
/// that it asked for, and keeps showing what it last knew when another client opens another.
package struct OpenSlideshow: Sendable, Equatable {
    package enum Phase: Sendable, Equatable {
        /// Asked for; becomes `current`.
        case opening
        /// The kernel's; becomes `elsewhere`, or `opening` when the connection is lost.
        case current
        /// Another client has opened another, with this name; becomes `opening`.
        case elsewhere(String)
    }

    package let id: UUID
    package private(set) var content: Slideshow?
    package private(set) var phase = Phase.opening
    package var cursor = ListCursor<UUID>()
    /// What the user has chosen and the kernel has not told yet.
    package private(set) var draft: Config?
    /// The name to show before there is any content.
    private let knownName: String

    init(id: UUID, knownName: String, region: Slideshow?) {
        self.id = id
        self.knownName = knownName
        if let region, region.id == id {
            content = region
            cursor.follow(region.slides.lazy.map(\.id))
        }
    }

    package var name: String { content?.name ?? knownName }
    package var config: Config? { draft ?? content?.config }

    /// The region has changed.
    ///
    /// - Returns: false when the slideshow was closed, here or elsewhere.
    mutating func follow(_ region: Slideshow?) -> Bool {
        guard let region else { return phase != .current }
        if region.id == id {
            content = region
            phase = .current
            if draft == region.config { draft = nil }
            cursor.follow(region.slides.lazy.map(\.id))
        } else if phase == .current {
            phase = .elsewhere(region.name)
        }
        return true
    }

    /// The kernel has opened it, and its region says so.
    mutating func opened() {
        phase = .current
    }

    mutating func reopen() {
        phase = .opening
    }

    mutating func propose(_ config: Config) {
        draft = config
    }

    /// No change of the configuration is on its way any more.
    mutating func settle() {
        draft = nil
    }

    mutating func handle(_ key: Key, page: Int) -> Bool {
        guard let content else { return false }
        return cursor.handle(key, in: content.slides.lazy.map(\.id), page: page)
    }
}
