/// One connection, from its handshake to its end.
package final class Peer {
    package let cable: any Cable
    /// The device whose process this is; nil for a client.
    package let device: DeviceSlot?
    /// Which of the processes that serve beside each other, from 1; 0 if there is but one.
    package let seat: Int
    /// Stands for the program that it runs: processes with other numbers are of another build.
    package let program: UInt64
    /// Which process of the seat; 0 for a client.
    package let incarnation: Int
    /// It takes one visit, beside the process that serves.
    package let isCell: Bool
    /// For people and the supervisor: the name of its seat, or what the client calls itself.
    package let name: String
    /// A cell that has its visit.
    var isBusy = false
    /// Another process has its seat: it ends when nothing that it has to finish is left.
    var isLeaving = false
    /// That is when it holds no visit.
    var leavesEmpty = false
    /// A cell that counts among those of its device until it is dead.
    var wasReady = false
    /// Open calls of this peer, and their bytes.
    var open = 0
    var openBytes = 0
    /// Those of them that wait for events of a channel.
    var reading = 0
    /// The last visit delivered on this cable.
    package internal(set) var deliveries: UInt64 = 0
    /// The visits that it holds.
    var visits = VisitTable()
    /// The place of each symbol in the list that the device announced, by the hub's own number.
    var places: [Int32] = []
    var placeCount: Int32 = 0
    /// What it has announced, until it is ready.
    var announced: [Announced] = []
    /// The shapes of the events that it publishes, by their channels.
    var publishes: [String: String] = [:]
    /// What it follows, by the hub's own number.
    var follows: [Int: Feed] = [:]
    /// The past revision at which it looks, instead of being sent what changes.
    package internal(set) var preview: UInt64?
    /// Seen time of the last visit that returned.
    package internal(set) var lastReply: UInt64 = 0
    /// The cable has closed or will; nothing new is delivered.
    package internal(set) var away = false

    /// How it answers one symbol.
    struct Announced {
        let symbol: SymbolSlot
        let binding: Binding
        let route: Route
    }

    /// - Parameter name: what a client calls itself; of a device's process, the name of its seat
    ///   counts.
    package init(
        cable: any Cable, device: DeviceSlot?, incarnation: Int, isCell: Bool = false,
        name: String, seat: Int = 0, program: UInt64 = 0
    ) {
        self.cable = cable
        self.device = device
        self.incarnation = incarnation
        self.isCell = isCell
        self.seat = seat
        self.program = program
        self.name = device.map { seat > 0 ? "\($0.name)/\(seat)" : $0.name } ?? name
    }

    func place(of symbol: SymbolSlot) -> Int? {
        guard symbol.id < places.count, places[symbol.id] >= 0 else { return nil }
        return Int(places[symbol.id])
    }
}

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
