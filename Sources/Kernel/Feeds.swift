internal import Values

/// The feeds of one region: the whole, and parts by the way to each. What changes one of ten
/// thousand parts does not look at the others.
final class Feeds {
    /// A place inside the region, which is followed or on the way to one that is.
    private final class Place {
        var feed: Feed?
        var children: [String: Place] = [:]
    }

    private var whole: Feed?
    private let root = Place()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The feed of the whole region, if no part is followed.
    var only: Feed? { count == 1 ? whole : nil }

    /// All of them, in the order in which they were made.
    var all: [Feed] {
        var found: [Feed] = []
        if let whole { found.append(whole) }
        Self.collect(root, into: &found)
        return found.sorted { $0.id < $1.id }
    }

    /// The feed of a place; nil: the whole region.
    /// - Complexity: linear in the length of the way.
    subscript(pointer: Pointer?) -> Feed? {
        guard let pointer else { return whole }
        var place: Place? = root
        for token in pointer.tokens { place = place?.children[token] }
        return place?.feed
    }

    func insert(_ feed: Feed) {
        count += 1
        guard let pointer = feed.pointer else {
            whole = feed
            return
        }
        var place = root
        for token in pointer.tokens {
            let next = place.children[token] ?? Place()
            place.children[token] = next
            place = next
        }
        place.feed = feed
    }

    func remove(_ feed: Feed) {
        guard self[feed.pointer] === feed else { return }
        count -= 1
        guard let pointer = feed.pointer else {
            whole = nil
            return
        }
        var way = [root]
        for token in pointer.tokens {
            if let next = way.last?.children[token] { way.append(next) }
        }
        way.last?.feed = nil
        // Whoever follows and leaves again and again leaves no places behind.
        for (above, token) in zip(way, pointer.tokens).reversed() {
            guard let place = above.children[token], place.feed == nil, place.children.isEmpty
            else { return }
            above.children[token] = nil
        }
    }

    /// The feeds that a patch may change, in the order in which they were made.
    ///
    /// - Complexity: linear in what it may change. Where it moves the elements of an array, the
    ///   followed elements of that array are looked through.
    func touched(by patch: Patch) -> [Feed] {
        let parts = count - (whole == nil ? 0 : 1)
        guard parts > 0 else { return whole.map { [$0] } ?? [] }
        var found: [Feed] = []
        if let whole { found.append(whole) }
        for operation in patch.operations {
            switch operation {
            case .test: break
            case .replace(let path, _): collect(at: path, shifts: false, into: &found)
            case .add(let path, _), .remove(let path), .copy(_, let path):
                collect(at: path, shifts: true, into: &found)
            case .move(let from, let path):
                collect(at: from, shifts: true, into: &found)
                collect(at: path, shifts: true, into: &found)
            }
        }
        var told: Set<Int> = []
        return found.filter { told.insert($0.id).inserted }.sorted { $0.id < $1.id }
    }

    /// Those on the way to a path, at it and below it, and those that the operation shifts.
    private func collect(at path: Pointer, shifts: Bool, into found: inout [Feed]) {
        var place = root
        for (depth, token) in path.tokens.enumerated() {
            if let feed = place.feed { found.append(feed) }
            if shifts, depth == path.tokens.count - 1 {
                return Self.collect(elementsOf: place, from: token, into: &found)
            }
            guard let next = place.children[token] else { return }
            place = next
        }
        Self.collect(place, into: &found)
    }

    /// Those at and below the elements of an array that stand at an index or after it. Whether it
    /// is an array nobody asks: of a map, that is more than the patch changes.
    private static func collect(
        elementsOf place: Place, from token: String, into found: inout [Feed]
    ) {
        if let child = place.children[token] { collect(child, into: &found) }
        guard token == "-" || Int(token) != nil else { return }
        let first = Int(token) ?? 0
        for (other, child) in place.children where other != token {
            if let index = Int(other), index >= first { collect(child, into: &found) }
        }
    }

    private static func collect(_ place: Place, into found: inout [Feed]) {
        if let feed = place.feed { found.append(feed) }
        for child in place.children.values { collect(child, into: &found) }
    }
}
