internal import Control

/// What waits for an answer of the kernel; nil tells it that the answer takes its time.
typealias Waiter = UnsafeContinuation<[UInt8]?, any Error>

/// The open calls of a connection by their number. Invariant: a number is used once; its lower half
/// is a place, its upper half counts the uses of the place.
struct PendingCalls {
    /// Where a place stands.
    private enum State {
        /// -> asked
        case free
        /// Somebody waits who cannot be cancelled, since the time. -> resting, free
        case asked(Waiter, since: UInt64)
        /// Who waits was told that it takes its time, and has not said yet how it waits on.
        /// -> slow, answered, free
        case resting
        /// The answer came meanwhile. -> free
        case answered(Result<[UInt8], any Error>)
        /// Somebody waits who can be cancelled. -> free
        case slow(Waiter)
        /// Something waits that is kept elsewhere. -> free
        case reserved
    }

    private var slots: [(generation: UInt32, size: Int, state: State)] = []
    private var free: [Int] = []
    private(set) var count = 0
    /// Of the payloads of all of them.
    private(set) var bytes = 0

    /// A number for a call that is sent now.
    mutating func add(_ waiter: Waiter, of size: Int = 0, since now: UInt64) -> UInt64 {
        add(.asked(waiter, since: now), size)
    }

    /// A number for a question whose answer is waited for elsewhere.
    mutating func reserve() -> UInt64 { add(.reserved, 0) }

    @inline(__always)
    private mutating func add(_ state: State, _ size: Int) -> UInt64 {
        let place: Int
        if let last = free.popLast() {
            place = last
            slots[place].state = state
            slots[place].size = size
        } else {
            place = slots.count
            slots.append((0, size, state))
        }
        count += 1
        bytes += size
        return UInt64(slots[place].generation) << 32 | UInt64(place)
    }

    /// Tells who waits how it ended. A closure that turns the answer into another would be asked
    /// where it runs each time.
    @inline(__always)
    static func resume(_ waiter: Waiter, _ answer: Result<[UInt8], any Error>) {
        switch answer {
        case .success(let bytes): waiter.resume(returning: bytes)
        case .failure(let error): waiter.resume(throwing: error)
        }
    }

    private func place(of id: UInt64) -> Int? {
        let place = Int(id & 0xFFFF_FFFF)
        guard place < slots.count, UInt64(slots[place].generation) == id >> 32 else { return nil }
        return place
    }

    private mutating func release(_ place: Int) {
        slots[place].state = .free
        slots[place].generation &+= 1
        free.append(place)
        count -= 1
        bytes -= slots[place].size
    }

    /// Gives back a number that was reserved.
    mutating func release(_ id: UInt64) {
        guard let place = place(of: id), case .reserved = slots[place].state else { return }
        release(place)
    }

    /// Who waits for a number; nobody waits for it afterwards.
    mutating func take(_ id: UInt64) -> Waiter? {
        guard let place = place(of: id) else { return nil }
        switch slots[place].state {
        case .asked(let waiter, _), .slow(let waiter):
            release(place)
            return waiter
        case .free, .resting, .answered, .reserved: return nil
        }
    }

    /// Keeps an answer for whoever is about to wait on; returns whether somebody is.
    @discardableResult
    mutating func keep(_ id: UInt64, _ answer: Result<[UInt8], any Error>) -> Bool {
        guard let place = place(of: id), case .resting = slots[place].state else { return false }
        slots[place].state = .answered(answer)
        return true
    }

    /// Waits on for a number that rests; nobody waits if its answer is there already.
    mutating func wait(_ id: UInt64, _ waiter: Waiter) -> Result<[UInt8], any Error>? {
        guard let place = place(of: id) else { return .failure(CancellationError()) }
        guard case .answered(let answer) = slots[place].state else {
            slots[place].state = .slow(waiter)
            return nil
        }
        release(place)
        return answer
    }

    /// Those who have waited since a time or before it; their calls rest.
    mutating func impatient(since limit: UInt64) -> (waiters: [Waiter], areMore: Bool) {
        var waiters: [Waiter] = []
        var areMore = false
        for place in slots.indices {
            guard case .asked(let waiter, let since) = slots[place].state else { continue }
            if since <= limit {
                waiters.append(waiter)
                slots[place].state = .resting
            } else {
                areMore = true
            }
        }
        return (waiters, areMore)
    }

    /// Everybody who waits; nobody waits afterwards, and who was about to gets the error.
    mutating func takeAll(_ error: any Error) -> [Waiter] {
        var waiters: [Waiter] = []
        for place in slots.indices {
            switch slots[place].state {
            case .asked(let waiter, _), .slow(let waiter):
                waiters.append(waiter)
                release(place)
            case .resting: slots[place].state = .answered(.failure(error))
            case .free, .answered, .reserved: break
            }
        }
        return waiters
    }
}
