import Contract
import FoundationEssentials

/// The slideshows and the configuration in the library file.
///
/// Every method is atomic on its own, and part of the transaction around it if there is one.
struct Library {
    private let database: Database

    init(_ database: Database) {
        self.database = database
    }

    // MARK: Slideshows

    /// All slideshows, without their slides, by time of creation, then name, then id.
    func fetchSummaries() throws -> [SlideshowSummary] {
        let sql = """
            SELECT id, name, duration, transition, loop, created_at, version, \
            (SELECT count(*) FROM slide WHERE slideshow_id = slideshow.id) \
            FROM slideshow ORDER BY created_at, name, id
            """
        return try database.rows(sql) { row in
            SlideshowSummary(
                id: try row.parsed(0, UUID.init(uuidString:)), name: try row.text(1),
                slideCount: Int(try row.integer(7)), config: try row.config(at: 2),
                createdAt: Date(storedMilliseconds: try row.integer(5)),
                version: Int(try row.integer(6)))
        }
    }

    /// The slideshow with its slides, or nothing.
    func fetch(_ id: UUID) throws -> Slideshow? {
        try database.snapshot { try read(id) }
    }

    /// Stores the slideshow if its id is new, and gives the one that is stored then: making the
    /// same id again changes nothing. A new one has version 1.
    func insert(_ slideshow: Slideshow) throws -> Slideshow {
        try database.transaction {
            let sql = """
                INSERT INTO slideshow (id, name, duration, transition, loop, created_at) \
                VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
                """
            if try runHead(sql, slideshow) > 0 {
                try write(slideshow.slides[...], of: slideshow.id)
            }
            return try read(slideshow.id) ?? slideshow
        }
    }

    /// Stores the slideshow in place of the one with its id, whatever version that has.
    func save(_ slideshow: Slideshow) throws {
        try database.transaction { try replace(try read(slideshow.id), by: slideshow) }
    }

    /// Stores the slideshow if the stored one has its version; nothing happens otherwise.
    ///
    /// - Returns: what is stored now, or nothing if another change came first. What is stored as it
    ///   is already is not written again: a writer that does not know whether its last attempt
    ///   arrived may try again.
    func replace(_ slideshow: Slideshow) throws -> Slideshow? {
        try database.transaction {
            guard let stored = try read(slideshow.id) else { return nil }
            if isIdentical(stored, slideshow) { return stored }
            guard stored.version == slideshow.version else { return nil }
            try replace(stored, by: slideshow)
            return try read(slideshow.id)
        }
    }

    /// Deletes the slideshow and its slides.
    ///
    /// - Returns: whether it was there.
    func delete(_ id: UUID) throws -> Bool {
        try database.run("DELETE FROM slideshow WHERE id = ?", .text(id.stored)) > 0
    }

    // MARK: Configuration

    /// The configuration of new slideshows; the default until one is saved.
    func loadConfig() throws -> Config {
        try database.rows("SELECT duration, transition, loop FROM config") { row in
            try row.config(at: 0)
        }.first ?? Config()
    }

    /// Stores the configuration of new slideshows.
    func save(_ config: Config) throws {
        try database.run(
            "INSERT OR REPLACE INTO config (id, duration, transition, loop) VALUES (1, ?, ?, ?)",
            .text(config.duration.rawValue), .text(config.transition.rawValue),
            .integer(config.loop ? 1 : 0))
    }

    // MARK: Rows

    private func read(_ id: UUID) throws -> Slideshow? {
        let heads = try database.rows(
            """
            SELECT name, duration, transition, loop, created_at, version FROM slideshow \
            WHERE id = ?
            """,
            .text(id.stored)
        ) { row in
            Slideshow(
                id: id, name: try row.text(0), slides: [], config: try row.config(at: 1),
                createdAt: Date(storedMilliseconds: try row.integer(4)),
                version: Int(try row.integer(5)))
        }
        guard var slideshow = heads.first else { return nil }
        slideshow.slides = try database.rows(
            "SELECT id, photo, duration, title FROM slide WHERE slideshow_id = ? ORDER BY position",
            .text(id.stored)
        ) { row in
            Slide(
                id: try row.parsed(0, UUID.init(uuidString:)), photo: try row.text(1), order: 0,
                duration: try row.parsed(2, Config.Duration.init(rawValue:)),
                title: try row.optionalText(3))
        }
        for index in slideshow.slides.indices { slideshow.slides[index].order = index }
        return slideshow
    }

    /// Rewrites only what follows the slides that stay as they are: adding a page of photos to a
    /// long slideshow costs the page.
    private func replace(_ stored: Slideshow?, by slideshow: Slideshow) throws {
        let sql = """
            INSERT INTO slideshow (id, name, duration, transition, loop, created_at) \
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name, \
            duration = excluded.duration, transition = excluded.transition, \
            loop = excluded.loop, created_at = excluded.created_at, version = version + 1
            """
        try runHead(sql, slideshow)
        let before = stored?.slides ?? []
        let kept = zip(before, slideshow.slides).prefix { isIdentical($0, $1) }.count
        if kept < before.count {
            try database.run(
                "DELETE FROM slide WHERE slideshow_id = ? AND position >= ?",
                .text(slideshow.id.stored), .integer(Int64(kept)))
        }
        try write(slideshow.slides.dropFirst(kept), of: slideshow.id)
    }

    @discardableResult
    private func runHead(_ sql: String, _ slideshow: Slideshow) throws -> Int {
        try database.run(
            sql, .text(slideshow.id.stored), .text(slideshow.name),
            .text(slideshow.config.duration.rawValue),
            .text(slideshow.config.transition.rawValue), .integer(slideshow.config.loop ? 1 : 0),
            .integer(slideshow.createdAt.storedMilliseconds))
    }

    /// Writes the slides at the positions at which they stand in the slideshow.
    private func write(_ slides: ArraySlice<Slide>, of slideshow: UUID) throws {
        for (position, slide) in zip(slides.indices, slides) {
            try database.run(
                """
                INSERT INTO slide (slideshow_id, position, id, photo, duration, title) \
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                .text(slideshow.stored), .integer(Int64(position)), .text(slide.id.stored),
                .text(slide.photo), .text(slide.duration.rawValue), SQLValue(slide.title))
        }
    }
}
