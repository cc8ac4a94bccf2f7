import Contract
import FoundationEssentials
import Testing

@testable import Infrastructure

struct LibraryTests {
    private let folder = TemporaryFolder()
    private let database: Database
    private let library: Library

    init() throws {
        database = try Database(directory: folder.path)
        library = Library(database)
    }

    @Test func `an empty library has nothing and the default configuration`() throws {
        #expect(try library.fetchSummaries() == [])
        #expect(try library.fetch(id(1)) == nil)
        #expect(try library.delete(id(1)) == false)
        #expect(try library.loadConfig() == Config())
    }

    @Test func `a slideshow comes back as it was stored, also to the next process`() throws {
        var stored = slideshow(1, name: "Été \u{1F3D6} 'x'")
        stored.config = Config(duration: .manual, transition: .dissolve, loop: false)
        stored.slides[2].duration = .sixty
        stored.createdAt = Date(timeIntervalSince1970: 1_700_000_000.123)
        let inserted = try library.insert(stored)
        stored.version = 1
        #expect(inserted == stored)
        #expect(try library.fetch(stored.id) == stored)
        #expect(try Library(Database(directory: folder.path)).fetch(stored.id) == stored)
    }

    @Test func `ids stand in the file in lower case`() throws {
        _ = try library.insert(slideshow(0xAB))
        let ids = try database.rows("SELECT id FROM slideshow") { try $0.text(0) }
        #expect(ids == ["aa000000-0000-4000-8000-0000000000ab"])
    }

    @Test func `summaries go by time, then name, then id`() throws {
        for (number, name, time) in [
            (5, "b", 2.0), (4, "a", 2.0), (3, "a", 2.0), (2, "z", 1.0), (1, "a", 3.0),
        ] as [(UInt8, String, Double)] {
            _ = try library.insert(
                slideshow(number, name: name, slides: Int(number), at: time))
        }
        var stored = slideshow(2, name: "z", slides: 2, at: 1)
        stored.version = 1
        let summaries = try library.fetchSummaries()
        #expect(summaries.map(\.id) == [2, 3, 4, 5, 1].map(id))
        #expect(summaries.map(\.slideCount) == [2, 3, 4, 5, 1])
        #expect(summaries[0] == stored.summary)
    }

    @Test func `making the same id again changes nothing`() throws {
        let first = try library.insert(slideshow(1))
        let again = try library.insert(slideshow(1, name: "Another", slides: 9, at: 5))
        #expect(again == first)
        #expect(try library.fetch(id(1)) == first)
    }

    @Test func `saving replaces the whole`() throws {
        let base = try library.insert(slideshow(1, slides: 4))
        var reversed = base
        reversed.slides.reverse()
        var shorter = base
        shorter.slides.removeFirst(2)
        var renamed = base
        renamed.name = "New"
        renamed.config.loop = false
        renamed.slides[3].title = "Last"
        var empty = base
        empty.slides = []
        var version = 1
        for var change in [reversed, shorter, renamed, empty, slideshow(1, slides: 300), base] {
            for index in change.slides.indices { change.slides[index].order = index }
            try library.save(change)
            version += 1
            change.version = version
            #expect(try library.fetch(id(1)) == change)
        }
        try library.save(slideshow(2))
        #expect(try library.fetch(id(2))?.version == 1)
    }

    @Test func `adding to a long slideshow writes only what is new`() throws {
        _ = try library.insert(slideshow(1, slides: 1_000))
        let before = try database.rows("SELECT total_changes()") { try $0.integer(0) }[0]
        try library.save(slideshow(1, slides: 1_010))
        let after = try database.rows("SELECT total_changes()") { try $0.integer(0) }[0]
        #expect(after - before == 11)
    }

    @Test func `a slide that stands twice is refused and nothing is stored`() throws {
        var doubled = slideshow(1)
        doubled.slides[1].id = doubled.slides[0].id
        let error = databaseError { try library.save(doubled) }
        #expect(error?.description.contains("UNIQUE") == true)
        #expect(try library.fetch(id(1)) == nil)
    }

    @Test func `a change of the stored version is stored, any other is not`() throws {
        let base = try library.insert(slideshow(1))
        #expect(base.version == 1)
        var mine = base
        mine.name = "Mine"
        var theirs = base
        theirs.name = "Theirs"
        let stored = try library.replace(mine)
        mine.version = 2
        #expect(stored == mine)
        #expect(try library.replace(theirs) == nil)
        #expect(try library.fetch(base.id) == mine)
        #expect(try library.fetchSummaries() == [mine.summary])
        mine.version = 1
        #expect(try library.replace(mine) == stored, "a repeat of what is stored")
        #expect(try library.replace(slideshow(2)) == nil)
        #expect(try library.delete(base.id))
        #expect(try library.replace(mine) == nil)
        #expect(try library.fetch(base.id) == nil)
    }

    @Test func `each part of a slideshow counts as a change`() throws {
        let base = try library.insert(slideshow(1, name: "\u{E9}"))
        let changes: [(inout Slideshow) -> Void] = [
            { $0.name = "e\u{301}" }, { $0.config.loop.toggle() }, { $0.slides.swapAt(0, 1) },
            { $0.createdAt = Date(timeIntervalSince1970: 9) }, { $0.slides.removeLast() },
            { $0.slides[0].title = "" }, { $0.slides[1].title = nil },
            { $0.slides[0].photo = "/x" }, { $0.slides[0].duration = .five },
        ]
        for change in changes {
            var next = base
            change(&next)
            for index in next.slides.indices { next.slides[index].order = index }
            let before = try library.fetch(base.id)?.version ?? 0
            next.version = before
            #expect(try library.replace(next)?.version == before + 1)
            try library.save(base)
        }
        #expect(try library.fetch(base.id)?.version == 1 + 2 * changes.count)
    }

    @Test func `deleting takes the slides along`() throws {
        _ = try library.insert(slideshow(1))
        _ = try library.insert(slideshow(2))
        #expect(try library.delete(id(1)))
        #expect(try library.delete(id(1)) == false)
        #expect(try library.fetchSummaries().map(\.id) == [id(2)])
        #expect(try database.rows("SELECT count(*) FROM slide") { try $0.integer(0) } == [3])
    }

    @Test func `every configuration comes back`() throws {
        for duration in Config.Duration.allCases {
            for transition in Config.Transition.allCases {
                let config = Config(
                    duration: duration, transition: transition, loop: duration == .five)
                try library.save(config)
                #expect(try library.loadConfig() == config)
            }
        }
        #expect(try database.rows("SELECT count(*) FROM config") { try $0.integer(0) } == [1])
    }

    @Test(
        arguments: [
            (Double.nan, 0), (.infinity, 253_402_300_799_999), (-.infinity, -253_402_300_799_999),
            (1e300, 253_402_300_799_999), (-0.0004, 0), (1.2345, 1_235),
        ] as [(Double, Int64)])
    func `a date that no calendar has does not trap`(seconds: Double, stored: Int64) {
        #expect(Date(timeIntervalSince1970: seconds).storedMilliseconds == stored)
    }

    @Test func `milliseconds survive the way to the file and back`() {
        for milliseconds in stride(from: Int64(1_700_000_000_000), to: 1_700_000_002_000, by: 7) {
            #expect(Date(storedMilliseconds: milliseconds).storedMilliseconds == milliseconds)
        }
    }
}
