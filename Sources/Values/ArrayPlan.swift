/// How one array becomes another: elements are removed from the end on, the kept ones are moved
/// into their order, missing ones are added from the start on, and then each stands at its final
/// index, where its content can change.
///
/// The longest run of kept elements that are in order already stays where it is; only others move.
///
/// - Complexity: O(n log n) beside the hashing of the elements.
struct ArrayPlan {
    /// Indices of the old array, falling.
    let removals: [Int]
    /// Steps in the array without the removed elements: taken out at `from`, put in at `to`.
    let moves: [(from: Int, to: Int)]
    /// Indices of the new array, rising.
    let additions: [Int]
    /// Kept elements with another content.
    let changes: [(old: Int, new: Int)]
    /// Bytes of the elements that are moved, at least.
    private let weightOfMoved: Int

    init(old: ArraySlice<Value>, new: ArraySlice<Value>) {
        let (old, new) = (Array(old), Array(new))
        var matching = Matching(old, new)
        matching.pairWhatIsLeft()
        removals = matching.target.indices.reversed().filter { matching.target[$0] == nil }
        additions = matching.source.indices.filter { matching.source[$0] == nil }
        moves = matching.moves()
        weightOfMoved = matching.target.enumerated().reduce(0) { sum, pair in
            guard let target = pair.element, !matching.stays[target] else { return sum }
            return sum + old[pair.offset].weight()
        }
        changes = matching.source.enumerated().compactMap { index, source in
            guard let source, old[source] != new[index] else { return nil }
            return (source, index)
        }
    }
}

extension ArrayPlan {
    /// What the plan counts for ``Patch/effortLimit``.
    ///
    /// - Parameter count: how many elements the old array has, from the first that the plan is
    ///   about; those behind them are shifted, too.
    func effort(in count: Int) -> Int {
        var count = count
        var effort = moves.isEmpty ? 0 : weightOfMoved
        for index in removals {
            count -= 1
            effort += count - index
        }
        for (from, target) in moves { effort += 2 * count - from - target }
        for index in additions {
            effort += count - index
            count += 1
        }
        return effort
    }
}

/// By what an element is recognised in the other array.
private enum Identity: Hashable {
    case member(Value)
    case whole(Value)

    init(_ value: Value) {
        self = value["id"].map { .member($0) } ?? .whole(value)
    }
}

/// Which elements of two arrays belong together.
private struct Matching {
    /// For each old element its index in the new array.
    var target: [Int?]
    /// For each new element its index in the old array.
    var source: [Int?]
    /// Of the new elements those that keep their order.
    var stays: [Bool]

    init(_ old: [Value], _ new: [Value]) {
        target = Array(repeating: nil, count: old.count)
        source = Array(repeating: nil, count: new.count)
        stays = Array(repeating: false, count: new.count)
        guard !old.isEmpty, !new.isEmpty else { return }
        // Equal elements are chained, so that the first meets the first.
        var first: [Identity: Int] = [:]
        var next: [Int?] = Array(repeating: nil, count: old.count)
        for index in old.indices.reversed() {
            next[index] = first.updateValue(index, forKey: Identity(old[index]))
        }
        for index in new.indices {
            let identity = Identity(new[index])
            guard let match = first[identity] else { continue }
            first[identity] = next[match]
            source[index] = match
            target[match] = index
        }
        markLongestRun()
    }

    /// Marks a longest rising subsequence of `source`: patience sorting, O(n log n).
    private mutating func markLongestRun() {
        /// The new index that ends the best run of each length.
        var ends: [Int] = []
        var before: [Int?] = Array(repeating: nil, count: source.count)
        for index in source.indices {
            guard let value = source[index] else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if let end = source[ends[middle]], end < value {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            before[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var last = ends.last
        while let index = last {
            stays[index] = true
            last = before[index]
        }
    }

    /// Pairs elements that nothing recognises with each other where they stand between the same
    /// neighbours, so that a changed element is a change in its place.
    mutating func pairWhatIsLeft() {
        var oldIndex = 0
        var pending: [Int] = []
        func pair(upTo end: Int) {
            var free = pending.makeIterator()
            while oldIndex < end {
                if target[oldIndex] == nil, let index = free.next() {
                    target[oldIndex] = index
                    source[index] = oldIndex
                    stays[index] = true
                }
                oldIndex += 1
            }
            pending.removeAll(keepingCapacity: true)
        }
        for index in source.indices {
            if stays[index], let old = source[index] {
                pair(upTo: old)
                oldIndex = old + 1
            } else if source[index] == nil {
                pending.append(index)
            }
        }
        pair(upTo: target.count)
    }

    /// The moves that bring the kept elements into the order of the new array.
    ///
    /// Between two elements that stay lie first those that were moved there, then those that still
    /// wait for their move. So the place of each is a sum of counts, which two Fenwick trees keep.
    func moves() -> [(from: Int, to: Int)] {
        let kept = target.compactMap { $0 }
        guard kept.contains(where: { !stays[$0] }) else { return [] }
        var rank: [Int] = Array(repeating: 0, count: source.count)
        /// How many that stay come before each rank, and at which rank each of them is.
        var staying: [Int] = []
        var ranksOfStaying: [Int] = []
        var waiting = Counts(kept.count)
        for (place, index) in kept.enumerated() {
            rank[index] = place
            staying.append(ranksOfStaying.count)
            if stays[index] { ranksOfStaying.append(place) } else { waiting.add(1, at: place) }
        }
        var placed = Counts(ranksOfStaying.count + 1)
        var placedCount = 0
        var passed = 0
        var moves: [(from: Int, to: Int)] = []
        for index in source.indices where source[index] != nil {
            if stays[index] {
                passed += 1
                continue
            }
            let place = rank[index]
            let gap = staying[place]
            let from = gap + placed.sum(below: gap + 1) + waiting.sum(below: place)
            waiting.add(-1, at: place)
            let waitingBefore = passed == 0 ? 0 : waiting.sum(below: ranksOfStaying[passed - 1])
            let to = passed + placedCount + waitingBefore
            placed.add(1, at: passed)
            placedCount += 1
            if from != to { moves.append((from, to)) }
        }
        return moves
    }
}

/// Counts with fast sums of a prefix: a Fenwick tree.
private struct Counts {
    private var nodes: [Int]

    init(_ count: Int) {
        nodes = Array(repeating: 0, count: count + 1)
    }

    mutating func add(_ amount: Int, at index: Int) {
        var node = index + 1
        while node < nodes.count {
            nodes[node] += amount
            node += node & -node
        }
    }

    func sum(below end: Int) -> Int {
        var sum = 0
        var node = end
        while node > 0 {
            sum += nodes[node]
            node -= node & -node
        }
        return sum
    }
}
