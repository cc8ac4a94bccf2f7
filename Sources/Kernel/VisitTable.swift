/// The visits of one cable by their number: a ring, because numbers follow each other closely. One
/// that outlasts those that came with it stands aside, so that the ring grows with the visits that
/// are held at a time, and not with the age of the oldest.
///
/// Invariant: a visit stands at its number modulo the size, or aside if a newer one has that place.
struct VisitTable {
    private var ring: [Flow?] = Array(repeating: nil, count: 64)
    private var aside: [UInt64: Flow] = [:]
    private(set) var count = 0

    /// The places of the ring.
    var size: Int { ring.count }

    subscript(number: UInt64) -> Flow? {
        let flow = ring[place(of: number)]
        if flow?.visit?.number == number { return flow }
        return aside.isEmpty ? nil : aside[number]
    }

    private func place(of number: UInt64) -> Int { Int(number & UInt64(ring.count - 1)) }

    /// Takes in a flow whose visit has its number already.
    mutating func insert(_ flow: Flow, _ number: UInt64) {
        while ring[place(of: number)] != nil, count >= ring.count / 2 { grow() }
        put(flow, number)
        count += 1
    }

    /// The newer of two that share a place has it.
    private mutating func put(_ flow: Flow, _ number: UInt64) {
        let place = place(of: number)
        if let older = ring[place], let its = older.visit?.number { aside[its] = older }
        ring[place] = flow
    }

    mutating func remove(_ number: UInt64) {
        let place = place(of: number)
        if ring[place]?.visit?.number == number {
            ring[place] = nil
        } else {
            guard aside.removeValue(forKey: number) != nil else { return }
        }
        count -= 1
    }

    /// The flows, the newest visit first.
    var newestFirst: [Flow] {
        (ring.compactMap { $0 } + aside.values)
            .sorted { ($0.visit?.number ?? 0) > ($1.visit?.number ?? 0) }
    }

    private mutating func grow() {
        let flows = newestFirst.reversed()
        ring = Array(repeating: nil, count: ring.count * 2)
        aside = [:]
        for flow in flows {
            if let number = flow.visit?.number { put(flow, number) }
        }
    }
}
