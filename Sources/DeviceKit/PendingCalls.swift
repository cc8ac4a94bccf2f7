internal import Control

/// What waits for an answer of the kernel.
typealias Waiter = UnsafeContinuation<[UInt8], any Error>

/// The open calls of a connection by their number. Invariant: a number is used once; its lower half
/// is a place, its upper half counts the uses of the place.
struct PendingCalls {
    private var slots: [(generation: UInt32, waiter: Waiter?)] = []
    private var free: [Int] = []
    private(set) var count = 0

    /// A number for a call that is about to be sent.
    mutating func reserve() -> UInt64 {
        let place: Int
        if let last = free.popLast() {
            place = last
        } else {
            place = slots.count
            slots.append((0, nil))
        }
        count += 1
        return UInt64(slots[place].generation) << 32 | UInt64(place)
    }

    /// Says who waits for a number that was reserved.
    mutating func fill(_ id: UInt64, _ waiter: Waiter) {
        slots[Int(id & 0xFFFF_FFFF)].waiter = waiter
    }

    /// Gives back a number that nobody waits for.
    mutating func release(_ id: UInt64) {
        let place = Int(id & 0xFFFF_FFFF)
        slots[place].generation &+= 1
        free.append(place)
        count -= 1
    }

    /// Who waits for a number; nobody waits for it afterwards.
    mutating func take(_ id: UInt64) -> Waiter? {
        let place = Int(id & 0xFFFF_FFFF)
        guard place < slots.count, UInt64(slots[place].generation) == id >> 32,
            let waiter = slots[place].waiter
        else { return nil }
        slots[place].waiter = nil
        slots[place].generation &+= 1
        free.append(place)
        count -= 1
        return waiter
    }

    /// Everybody who waits; nobody waits afterwards.
    mutating func takeAll() -> [Waiter] {
        let waiters = slots.compactMap(\.waiter)
        for place in slots.indices where slots[place].waiter != nil {
            slots[place].waiter = nil
            slots[place].generation &+= 1
            free.append(place)
        }
        count = 0
        return waiters
    }
}
