/// Rows that are known by an id, for regions that hold many of them.
///
/// A region is a value, and a plain struct costs its size wherever it is used: `mutate` decodes all
/// of it, encodes all of it and compares all of it, and whoever observes it decodes all of it
/// again. A table is a piece of the region's value itself, a map of the rows by the text of their
/// ids, and is neither decoded nor encoded with the struct that holds it. Only the rows that
/// somebody asks for are decoded, only those that somebody changes are encoded.
///
/// ```swift
/// struct Library: Region {
///     var photos = Table<Photo>()
///     var title = ""
/// }
///
/// try await kernel.buffer.mutate(Library.self) { library in
///     try library.photos.update(id) { $0.rating = 5 }
/// }
/// ```
///
/// Behind it stands the tree of ``Value/Members``, whose copies share what has not changed. So one
/// changed row of 100,000 is one path in the tree that is made anew, the difference with the value
/// before finds it without looking at the other rows, the patch is `/photos/<id>/rating`, and
/// kernel and mirrors apply it along the same path while whoever holds the revision before keeps
/// it. What it costs grows with the depth of the tree, four levels for 100,000 rows.
///
/// The order is that of the ids' texts, shorter ones first: numbers from 0 on are in their order,
/// UUIDs and texts of one length in that of their bytes. Any other order is a matter of the reader,
/// who says it with members of the row.
///
/// A row is decoded when it is read, and not before. What a writer of another build has put in its
/// place therefore throws there, names the row, and hurts no other row.
public struct Table<Row: Identifiable & Codable & Sendable>: Sendable where Row.ID: RowID {
    private var members = Value.Members()

    /// A table without rows.
    public init() {}

    /// A table of rows; of those with the same id the last counts.
    ///
    /// - Throws: ``CodingError`` if a row cannot be encoded.
    public init(_ rows: some Sequence<Row>) throws {
        for row in rows { try set(row) }
    }
}

extension Table {
    /// How many rows there are.
    public var count: Int { members.count }

    /// Whether there is no row.
    public var isEmpty: Bool { members.isEmpty }

    /// Whether there is a row of this id.
    public func contains(_ id: Row.ID) -> Bool { members.root.contains(id.rowKey) }

    /// The row of an id; nil where there is none.
    ///
    /// - Throws: ``CodingError`` if what stands there is no such row.
    /// - Complexity: logarithmic, and one row is decoded.
    public subscript(id: Row.ID) -> Row? {
        get throws {
            let key = id.rowKey
            return try members[key].map { try Self.row($0, key) }
        }
    }

    /// All rows in their order.
    ///
    /// - Throws: ``CodingError`` at the first that is no such row.
    public var rows: [Row] {
        get throws { try members.map { try Self.row($0.value, $0.key) } }
    }

    /// The rows at some places in the order, such as those that a screen shows; places beyond the
    /// end have none.
    ///
    /// - Throws: ``CodingError`` at the first that is no such row.
    /// - Complexity: logarithmic beside the rows that are decoded.
    public func rows(at places: Range<Int>) throws -> [Row] {
        try places.clamped(to: 0..<count).map { place in
            let (key, value) = members[place]
            return try Self.row(value, key)
        }
    }

    /// Where a row stands in the order; nil where there is none of this id.
    ///
    /// - Complexity: logarithmic.
    public func place(of id: Row.ID) -> Int? {
        let key = id.rowKey
        return members.root.contains(key) ? members.rank(of: key) : nil
    }

    /// The texts of the ids in their order.
    public var keys: LazyMapCollection<Value.Members, String> { members.keys }

    private static func row(_ value: Value, _ key: String) throws -> Row {
        do {
            let row = try ValueDecoder().decode(Row.self, from: value)
            guard row.id.rowKey == key else {
                throw CodingError(.refused, expected: "a row of this id", found: row.id.rowKey)
            }
            return row
        } catch {
            throw CodingError.within([], CoderKey.member(key), error)
        }
    }
}

extension Table {
    /// Puts a row in the place of the one with its id, or adds it.
    ///
    /// - Throws: ``CodingError`` if the row cannot be encoded; the table is then as it was.
    public mutating func set(_ row: Row) throws {
        let key = row.id.rowKey
        let value: Value
        do {
            value = try ValueEncoder().encode(row)
        } catch {
            throw CodingError.within([], CoderKey.member(key), error)
        }
        // A row that is as before does not make anew the way to it.
        if members[key] != value { members[key] = value }
    }

    /// Changes a row.
    ///
    /// - Returns: what `change` returns; nil where there is no row of this id.
    /// - Throws: what `change` throws; ``CodingError`` if the row cannot be decoded or encoded, or
    ///   has got another id. The table is then as it was.
    @discardableResult
    public mutating func update<Result>(
        _ id: Row.ID, _ change: (inout Row) throws -> Result
    ) throws -> Result? {
        guard var row = try self[id] else { return nil }
        let result = try change(&row)
        guard row.id.rowKey == id.rowKey else {
            let error = CodingError(.refused, expected: "a row that keeps its id", found: "another")
            throw CodingError.within([], CoderKey.member(id.rowKey), error)
        }
        try set(row)
        return result
    }

    /// Removes a row.
    ///
    /// - Returns: whether there was one of this id; it need not be one that can be decoded.
    @discardableResult
    public mutating func remove(_ id: Row.ID) -> Bool {
        members.removeValue(forKey: id.rowKey) != nil
    }

    /// Removes every row.
    public mutating func removeAll() { members = Value.Members() }
}

/// What has happened to one row between two states of a table.
public enum RowChange<Row: Sendable>: Sendable {
    /// The row was not there before.
    case added(Row)
    /// The row was another before.
    case changed(from: Row, to: Row)
    /// The row is no longer there.
    case removed(Row)
}

extension RowChange: Equatable where Row: Equatable {}

extension Table {
    /// What has changed since an earlier state, in the order of the rows; nothing is told about
    /// rows that are equal.
    ///
    /// - Throws: ``CodingError`` at the first that is no such row.
    /// - Complexity: near linear in the number of changes if one state came from the other by
    ///   changes, as the states of a mirror do; linear in the number of rows at worst.
    public func changes(since earlier: Table) throws -> [RowChange<Row>] {
        var changes: [RowChange<Row>] = []
        var walk = MemberWalk(from: earlier.members.root, to: members.root)
        while let step = walk.next() {
            let old = try step.old.map { try Self.row($0, step.key) }
            let new = try step.new.map { try Self.row($0, step.key) }
            switch (old, new) {
            case (let old?, let new?):
                if step.old != step.new { changes.append(.changed(from: old, to: new)) }
            case (nil, let new?): changes.append(.added(new))
            case (let old?, nil): changes.append(.removed(old))
            case (nil, nil): break
            }
        }
        return changes
    }
}

extension Table: Hashable {
    /// Whether both have the same rows.
    ///
    /// - Complexity: see ``changes(since:)``.
    public static func == (left: Table, right: Table) -> Bool { left.members == right.members }

    /// Equal tables feed equal bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(members) }
}

extension Table: Codable {
    /// Writes the rows as a map by the texts of their ids; a ``ValueEncoder`` takes them as they
    /// are.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Value.map(members))
    }

    /// Reads a map. A ``ValueDecoder`` gives it as it is, and no row is looked at; any other coder
    /// knows what the rows are of their type alone, and decodes all of them.
    public init(from decoder: any Decoder) throws {
        guard let source = decoder as? ValueSource else {
            let rows = try decoder.singleValueContainer().decode([String: Row].self)
            try self.init(rows.values)
            return
        }
        guard case .map(let members) = source.value else {
            throw CodingError(.mismatch, expected: "a map of rows", found: source.value.kind)
        }
        self.init()
        self.members = members
    }
}
