import FoundationEssentials
import Testing

@testable import Values

struct TableTests {
    struct Photo: Identifiable, Codable, Sendable, Hashable {
        var id: Int
        var name: String
        var rating = 0
    }

    struct Library: Codable, Sendable {
        var photos = Table<Photo>()
        var title = "Alps"
    }

    static func photo(_ id: Int) -> Photo { Photo(id: id, name: "IMG_\(id).jpg") }

    static func library(_ count: Int) throws -> Value {
        try ValueEncoder().encode(Library(photos: Table((0..<count).map(photo))))
    }

    @Test func `rows are set, read, changed and removed by their ids`() throws {
        var table = try Table([3, 1, 20, 2].map(Self.photo))
        #expect(try table.rows.map(\.id) == [1, 2, 3, 20])
        #expect(table.count == 4)
        #expect(try table[20]?.name == "IMG_20.jpg")
        #expect(try table[21] == nil)
        #expect(table.contains(1) && !table.contains(0))
        #expect(table.place(of: 20) == 3 && table.place(of: 4) == nil)
        #expect(try table.rows(at: 1..<3).map(\.id) == [2, 3])
        #expect(try table.rows(at: 3..<9).map(\.id) == [20])
        #expect(try table.rows(at: 7..<9).isEmpty)

        let before = table
        let name = try table.update(2) { row in
            row.rating = 5
            return row.name
        }
        #expect(name == "IMG_2.jpg")
        let nothing: Void? = try table.update(99) { $0.rating = 5 }
        #expect(nothing == nil)
        try table.set(Photo(id: 1, name: "new"))
        try table.set(Self.photo(4))
        let removed = [table.remove(3), table.remove(3)]
        #expect(removed == [true, false])
        #expect(
            try table.changes(since: before) == [
                .changed(from: Self.photo(1), to: Photo(id: 1, name: "new")),
                .changed(from: Self.photo(2), to: Photo(id: 2, name: "IMG_2.jpg", rating: 5)),
                .removed(Self.photo(3)), .added(Self.photo(4)),
            ])
        #expect(table != before)
        try table.set(Self.photo(1))
        try table.set(Self.photo(2))
        try table.set(Self.photo(3))
        table.remove(4)
        #expect(table == before && table.hashValue == before.hashValue)
        #expect(try table.changes(since: before).isEmpty)
        table.removeAll()
        #expect(table.isEmpty)
    }

    struct Wrapped: RawRepresentable, Codable, Hashable, RowID { let rawValue: String }

    @Test func `texts, numbers, UUIDs and what wraps them are ids`() throws {
        struct Row<ID: RowID & Codable & Hashable>: Identifiable, Codable, Sendable {
            var id: ID
        }
        func key<ID: RowID & Codable & Hashable>(_ id: ID) throws -> [String] {
            Array(try Table([Row(id: id)]).keys)
        }
        let uuid = UUIDBytes(high: 0x1b4e_28ba_2fa1_11d2, low: 0x883f_0016_d3cc_a427)
        #expect(try key("a/b") == ["a/b"])
        #expect(try key(-7) == ["-7"])
        #expect(try key(Int64.max) == ["9223372036854775807"])
        #expect(try key(uuid) == ["1b4e28ba-2fa1-11d2-883f-0016d3cca427"])
        #expect(try key(UUID(uuid)) == ["1b4e28ba-2fa1-11d2-883f-0016d3cca427"])
        #expect(try key(Wrapped(rawValue: "x")) == ["x"])
    }

    @Test func `a change of a table is a patch of its rows`() throws {
        let old = try Self.library(100)
        var library = try ValueDecoder().decode(Library.self, from: old)
        try library.photos.update(17) { $0.rating = 3 }
        library.photos.remove(40)
        try library.photos.set(Self.photo(200))
        let new = try ValueEncoder().encode(library)
        let patch = Patch.difference(from: old, to: new)
        #expect(
            patch.operations == [
                .replace(["photos", "17", "rating"], 3), .remove(["photos", "40"]),
                .add(["photos", "200"], try ValueEncoder().encode(Self.photo(200))),
            ])
        let (result, inverse) = try patch.applying(to: old)
        #expect(result == new)
        #expect(try inverse.apply(to: new) == old)
        // Through text nothing is shared any more, and all is still equal.
        let parsed = try Value.parse(json: new.json())
        #expect(Patch.difference(from: parsed, to: new).isEmpty)
        #expect(try ValueDecoder().decode(Library.self, from: parsed).photos == library.photos)
    }

    @Test func `a row that cannot be read is named and hurts no other`() throws {
        let value: Value = [
            "title": "x",
            "photos": [
                "1": ["id": 1, "name": 5, "rating": 0], "2": ["id": 2, "name": "b", "rating": 0],
            ],
        ]
        var library = try ValueDecoder().decode(Library.self, from: value)
        #expect(try library.photos[2]?.name == "b")
        let error = #expect(throws: CodingError.self) { try library.photos[1] }
        #expect(error?.path == ["1", "name"])
        #expect(throws: CodingError.self) { try library.photos.rows }
        #expect(throws: CodingError.self) { try library.photos.update(1) { $0.rating = 1 } }
        try library.photos.update(2) { $0.rating = 1 }
        let patch = Patch.difference(from: value, to: try ValueEncoder().encode(library))
        #expect(patch.operations == [.replace(["photos", "2", "rating"], 1)])
        library.photos.remove(1)
        #expect(try library.photos.rows.map(\.id) == [2])

        let other: Value = ["1": ["id": 2, "name": "b", "rating": 0]]
        let misplaced = try ValueDecoder().decode(Table<Photo>.self, from: other)
        let refused = #expect(throws: CodingError.self) { try misplaced[1] }
        #expect(refused?.code == .refused)

        let wrong = #expect(throws: CodingError.self) {
            try ValueDecoder().decode(Library.self, from: ["title": "x", "photos": [1]])
        }
        #expect(wrong?.path == ["photos"])
    }

    @Test func `another coder knows the rows by their type`() throws {
        struct Event: Identifiable, Codable, Sendable, Equatable {
            var id: UUID
            var at: Date
            var bytes: [UInt8]
        }
        let uuid = UUIDBytes(high: 0x1b4e_28ba_2fa1_11d2, low: 0x883f_0016_d3cc_a427)
        let event = Event(id: UUID(uuid), at: Date(milliseconds: 1500), bytes: [1, 2])
        let table = try Table([event])
        let data = try JSONEncoder().encode(table)
        let read = try JSONDecoder().decode(Table<Event>.self, from: data)
        #expect(try read.rows == [event])
        #expect(read == table)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Table<Event>.self, from: Data("[1]".utf8))
        }
    }

    struct Failure: Error {}

    @Test func `a change that fails or takes another id leaves the table as it was`() throws {
        var table = try Table([1, 2].map(Self.photo))
        let before = table
        let error = #expect(throws: CodingError.self) {
            try table.update(1) { $0.id = 2 }
        }
        #expect(error?.path == ["1"])
        #expect(throws: Failure.self) {
            try table.update(1) { row in
                row.rating = 1
                throw Failure()
            }
        }
        #expect(table == before)
        struct Measured: Identifiable, Codable, Sendable {
            var id = "a"
            var size = Double.nan
        }
        var measured = Table<Measured>()
        let refused = #expect(throws: CodingError.self) { try measured.set(Measured()) }
        #expect(refused?.path == ["a", "size"])
        #expect(measured.isEmpty)
    }

    @Test func `a row that is set as it is makes nothing anew`() throws {
        let base = try Self.library(200)
        var library = try ValueDecoder().decode(Library.self, from: base)
        for id in 0..<200 { try library.photos.set(Self.photo(id)) }
        try library.photos.update(7) { $0.rating = 0 }
        let new = try ValueEncoder().encode(library)
        #expect(try #require(new["photos"]).isIdentical(to: try #require(base["photos"])))
    }

    /// What a commit of one row costs everybody, in counts that do not depend on the machine.
    struct Cost {
        var steps = 0
        var nodes = 0
        var bytes = 0

        init(rows: Int) throws {
            let id = rows / 2
            let base = try TableTests.library(rows)
            // The writer.
            var library = try ValueDecoder().decode(Library.self, from: base)
            try library.photos.update(id) { $0.rating = 1 }
            let new = try ValueEncoder().encode(library)
            let patch = Patch.difference(from: base, to: new)
            let (old, made) = (base["photos"]!.map!, new["photos"]!.map!)
            var walk = MemberWalk(from: old.root, to: made.root)
            while walk.next() != nil {}
            steps = walk.steps
            bytes = patch.value.weight()
            // The kernel, which keeps the value before.
            let (kernel, inverse) = try patch.applying(to: base)
            #expect(kernel == new)
            #expect(inverse.operations.count == 1)
            nodes = kernel["photos"]!.map!.root.nodes.subtracting(old.root.nodes).count
            // The subscriber.
            let mirror = try patch.apply(to: base)
            let before = try ValueDecoder().decode(Library.self, from: base)
            let after = try ValueDecoder().decode(Library.self, from: mirror)
            let changes = try after.photos.changes(since: before.photos)
            #expect(changes.count == 1)
        }
    }

    @Test func `a change of one row in 100,000 costs about what it costs in 100`() throws {
        let (small, large) = (try Cost(rows: 100), try Cost(rows: 100_000))
        #expect(large.steps <= 3 * small.steps, "\(large.steps) after \(small.steps)")
        #expect(large.nodes <= 3 * small.nodes, "\(large.nodes) after \(small.nodes)")
        #expect(large.bytes <= 3 * small.bytes)
        #expect(small.nodes > 0 && small.steps > 0 && small.bytes > 0)
    }

    @Test func `a thousand revisions of a large table share their rows`() throws {
        var value = try Self.library(20_000)
        var revisions = [value]
        for turn in 0..<1000 {
            let patch = Patch([.replace(["photos", "\(turn * 19)", "rating"], 1)])
            value = try patch.apply(to: value)
            revisions.append(value)
        }
        let first = try #require(revisions[0]["photos"]?.map)
        #expect(first["1900"]?["rating"] == 0)
        let nodes = revisions.map { $0["photos"]!.map!.root.nodes }
        let all = nodes.reduce(into: Set<UInt>()) { $0.formUnion($1) }
        // A path of three nodes for each revision, not the 650 nodes of a table.
        #expect(all.count <= nodes[0].count + 3 * 1000)
        #expect(all.count >= nodes[0].count + 1000)
    }
}
