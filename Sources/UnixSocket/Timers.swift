/// A scheduled action. Dropping the handle leaves the action scheduled.
package struct Timer: Sendable {
    let slot: Int
    let generation: UInt32

    /// Takes the action back; nothing happens if it has run or is cancelled already.
    /// - Complexity: O(log n) in the number of scheduled actions.
    @LoopActor package func cancel() {
        EventLoop.shared.timers.remove(self)
    }

    /// Whether the action is still to come.
    @LoopActor package var isPending: Bool {
        EventLoop.shared.timers.contains(self)
    }
}

/// Actions ordered by deadline, equal deadlines by the order in which they were scheduled.
///
/// A binary heap of small nodes; each names a slot that holds the action and knows where its node
/// stands, so that cancelling needs no search. A slot's generation tells a timer from the one that
/// had the slot before.
struct TimerHeap {
    private struct Node {
        var deadline: UInt64
        var sequence: UInt64
        var slot: Int

        func isBefore(_ other: Node) -> Bool {
            deadline != other.deadline
                ? deadline < other.deadline : sequence < other.sequence
        }
    }

    private struct Slot {
        var generation: UInt32 = 0
        var index = 0
        var action: (@LoopActor () -> Void)?
    }

    private var nodes: [Node] = []
    private var slots: [Slot] = []
    private var free: [Int] = []
    /// The number of the next timer: a mark that tells the timers of one turn from those that they
    /// schedule.
    private(set) var nextSequence: UInt64 = 0

    var count: Int { nodes.count }
    var earliest: UInt64? { nodes.first?.deadline }

    func contains(_ timer: Timer) -> Bool {
        slots[timer.slot].generation == timer.generation && slots[timer.slot].action != nil
    }

    mutating func insert(_ deadline: UInt64, _ action: @escaping @LoopActor () -> Void) -> Timer {
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
        } else {
            slot = slots.count
            slots.append(Slot())
        }
        slots[slot].action = action
        slots[slot].index = nodes.count
        nodes.append(Node(deadline: deadline, sequence: nextSequence, slot: slot))
        nextSequence += 1
        siftUp(nodes.count - 1)
        return Timer(slot: slot, generation: slots[slot].generation)
    }

    mutating func remove(_ timer: Timer) {
        guard contains(timer) else { return }
        removeNode(slots[timer.slot].index)
    }

    /// The earliest action that is due at `now` and was scheduled before `sequence`, taken out.
    mutating func takeDue(_ now: UInt64, before sequence: UInt64) -> (@LoopActor () -> Void)? {
        guard let first = nodes.first, first.deadline <= now, first.sequence < sequence else {
            return nil
        }
        return removeNode(0)
    }

    @discardableResult
    private mutating func removeNode(_ index: Int) -> (@LoopActor () -> Void)? {
        let slot = nodes[index].slot
        let last = nodes.count - 1
        if index != last {
            place(nodes[last], at: index)
        }
        nodes.removeLast()
        if index < nodes.count {
            siftUp(index)
            siftDown(index)
        }
        let action = slots[slot].action
        slots[slot].action = nil
        slots[slot].generation &+= 1
        free.append(slot)
        return action
    }

    private mutating func place(_ node: Node, at index: Int) {
        nodes[index] = node
        slots[node.slot].index = index
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        let node = nodes[index]
        while index > 0 {
            let parent = (index - 1) / 2
            guard node.isBefore(nodes[parent]) else { break }
            place(nodes[parent], at: index)
            index = parent
        }
        place(node, at: index)
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        let node = nodes[index]
        while true {
            var child = 2 * index + 1
            guard child < nodes.count else { break }
            if child + 1 < nodes.count, nodes[child + 1].isBefore(nodes[child]) { child += 1 }
            guard nodes[child].isBefore(node) else { break }
            place(nodes[child], at: index)
            index = child
        }
        place(node, at: index)
    }
}
