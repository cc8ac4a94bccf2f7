/// What waits, first come, first served.
///
/// Invariant: the places before `next` are empty. They are cleared away once they are half of all,
/// so that each element is moved once at most however many wait.
struct Queue<Element> {
    private var places: [Element?] = []
    private var next = 0
    /// So few empty places are not worth moving the others.
    private static var fewest: Int { 16 }

    var isEmpty: Bool { next == places.count }

    /// Who has waited longest.
    var first: Element? { isEmpty ? nil : places[next] }

    mutating func append(_ element: Element) { places.append(element) }

    /// Takes out who has waited longest; nil when nobody waits.
    @discardableResult
    mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = places[next]
        places[next] = nil
        next += 1
        if isEmpty {
            places.removeAll(keepingCapacity: places.capacity <= 1_024)
            next = 0
        } else if next >= Self.fewest, next * 2 >= places.count {
            places.removeFirst(next)
            next = 0
        }
        return element
    }
}
