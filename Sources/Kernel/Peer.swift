internal import Control

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
