package import Control
package import Values

/// The hub's view of one connection: what it writes is sent in the order in which it was written.
///
/// The hub calls it while it handles an event; an implementation only puts bytes into its buffer.
package protocol Cable: AnyObject {
    /// A stage is delivered to a device.
    func visit(_ order: borrowing VisitOrder)
    /// The answer to a visit is no longer wanted.
    func cancel(visit: UInt64)
    /// The answer to what a visit asked for.
    func answer(visit: UInt64, tag: UInt64, _ answer: Answer)
    /// The answer to a commit in a repeat that has been answered with the values of an earlier one
    /// of the same regions: most of them are what they were.
    func answer(
        visit: UInt64, tag: UInt64, revision: UInt64, values: [Value], since earlier: Answered)
    /// The end of a call.
    func reply(call: UInt64, _ result: Result<[UInt8], KernelError>)
    /// The end of a call that gives these bytes, which are lent.
    func reply(call: UInt64, output: UnsafeRawBufferPointer)
    /// A dispatched command stands in its lane.
    func accepted(call: UInt64)
    /// The answer to who publishes to a channel or reads one.
    func channel(call: UInt64, _ answer: ChannelAnswer)
    /// Whether so much waits for the peer that it must take some of it before it gets events.
    var isFull: Bool { get }
    /// The whole value of a place.
    func snapshot(region: String, at revision: Revision, _ value: Value)
    /// One commit, as far as this peer follows its regions.
    func patch(_ update: Update)
    /// The next so many whole values and changes are one: nobody sees a state between them.
    func together(_ count: Int)
}

extension Cable {
    package func answer(
        visit: UInt64, tag: UInt64, revision: UInt64, values: [Value], since earlier: Answered
    ) {
        answer(visit: visit, tag: tag, .committed(revision: revision, values: values))
    }
    package func reply(call: UInt64, output: UnsafeRawBufferPointer) {
        reply(call: call, .success([UInt8](output)))
    }
    package var isFull: Bool { false }
}

/// A recorded commit that a repeat has been answered.
package struct Answered {
    package var tag: UInt64
    /// What it was made on.
    package var values: [Value]
}

/// One delivery of a stage.
package struct VisitOrder {
    /// Counts the deliveries on this cable, from 1.
    package var number: UInt64
    /// The place of the symbol in the list that the device announced, or among the closures of the
    /// pipe that `asker` runs.
    package var symbol: Int
    /// The question by which a visit of the same process runs the pipe; nil for an announced
    /// symbol.
    package var asker: (visit: UInt64, tag: UInt64)?
    /// The root of the key: the flow, or what stands above it.
    package var flow: UInt64
    /// The key of everything above this step; nil for a root flow without a key of its own.
    package var path: String?
    /// Counts the stages that the flow has entered.
    package var step: UInt32
    /// From 1.
    package var attempt: UInt32
    /// Milliseconds since 1970, of the first delivery of the step.
    package var now: Int64
    /// Flows below it have ended.
    package var lowest: UInt64
    /// Whether what is asked is compared with a record.
    package var replay: Bool
    /// What was read before.
    package var reads: [RegionRead]
    /// The value that enters the stage.
    package var value: [UInt8]
}

/// One commit, as far as some peers follow its regions. It is one object for all of them, so that
/// it is encoded once.
package final class Update {
    /// What the commit made.
    package let revision: Revision
    package let changes: [RegionChange]
    /// What the first cable has made of it for all.
    package var encoded: [UInt8]?

    package init(at revision: Revision, _ changes: [RegionChange]) {
        self.revision = revision
        self.changes = changes
    }
}

/// What the hub says to something that a visit asked for.
package enum Answer {
    /// A call's output.
    case output([UInt8])
    /// It failed.
    case failure(KernelError)
    /// The commit is made; in a repeat, the values that it was applied to.
    case committed(revision: UInt64, values: [Value]?)
    /// The event stands in its channel under this number.
    case published(UInt64)
    /// Another commit came first; the newer values are on the way already.
    case conflict
}

/// What happens in the world outside of the cables. With an incarnation goes the name of a seat:
/// `compute`, or `compute/2` of a device with several.
package protocol HubObserver: AnyObject {
    /// A visit returned to a device of which some visit had been charged with a death.
    func returned(device: String, incarnation: Int, symbol: String, digest: UInt64)
    /// How a visit may be delivered to such a device.
    func fate(device: String, symbol: String, digest: UInt64) -> Hub.Fate
    /// A visit waits for a cell: a process of the device for it alone.
    func cellWanted(device: String)
    /// The visit of a cell has ended, or there is none for it: the cell may go.
    func cellEmptied(device: String, incarnation: Int)
    /// A process whose seat another one has taken has nothing left to finish.
    func elderEmptied(device: String, incarnation: Int)
    /// A process serves only flows that have begun, for its device has another build now.
    func outdated(device: String, incarnation: Int)
    /// A peer is about to be sent one of the kernel's own regions.
    func followed(region: String)
}

extension HubObserver {
    package func followed(region: String) {}
    package func outdated(device: String, incarnation: Int) {}
}
