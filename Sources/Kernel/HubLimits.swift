/// Every bound of the hub, in one place. Times are nanoseconds of seen time, sizes are bytes.
package struct HubLimits: Sendable {
    /// Requests that wait for one device that is away.
    package var waitingRequests = 1_024
    /// Bytes of payload that wait for one device that is away.
    package var waitingBytes = 64 << 20
    /// Cells of one device at a time whose visits run.
    package var cells = 4
    /// Cells of one device at a time, those whose visits wait for an answer of the kernel included.
    package var allCells = 8
    /// Calls that one connection may have open.
    package var openCalls = 1_024
    /// Bytes of payload that one connection may have open.
    package var openBytes = 64 << 20
    /// Commands that wait in one lane.
    package var laneCommands = 1_024
    /// Bytes of payload that wait in one lane.
    package var laneBytes = 64 << 20
    /// Stages and branches of one pipe, those of its forks included.
    package var stages = 4_096
    /// Operations that one stage may have recorded.
    package var recordEntries = 1_024
    /// Bytes that one stage may have recorded.
    package var recordBytes = 16 << 20
    /// Bytes that the kernel holds because of all flows together.
    package var flowBytes = 256 << 20
    /// What it may hold beyond that for who must not be refused: a `finally` or an event, and what
    /// these ask for.
    package var sparedBytes = 64 << 20
    /// Times that a commit is offered again after a conflict.
    package var commitAttempts = 256
    /// Conflicts after which a commit goes before those of others.
    package var commitTurn = 8
    /// How long others wait for it to be offered again.
    package var commitTurnTime: UInt64 = 100_000_000
    /// The time of a `finally`.
    package var finallyDeadline: UInt64 = 10_000_000_000
    /// How long a cancelled visit may take to settle after its attempt's time, before the hub
    /// forgets it. The supervisor ends a process that hangs when that time is over; the end of
    /// the flow is told after the death, or what still runs could change something after it.
    package var settleDeadline: UInt64 = 3_000_000_000
    /// A gap in which the kernel did not run: it adds nothing to seen time.
    package var unseenGap: UInt64 = 2_000_000_000
    /// What a second late turn in a row adds, or nothing would ever be judged.
    package var lateStep: UInt64 = 1_000_000_000
    /// Bytes of the value of a region; readers accept no larger one.
    package var regionBytes = 64 << 20
    /// Places that one connection may follow.
    package var subscriptions = 1_024
    /// Parts of one region, each within the one before, that one client may follow.
    package var nestedPlaces = 8
    /// Revisions of one region that are kept, for replayed reads and for who looks at the past.
    package var pastRevisions = 1_024
    /// Those that are kept for replayed reads of a region whose manifest wants a shorter history.
    package var readRevisions = 64
    /// Bytes of them: changes, what leads back, and keyframes.
    package var pastBytes = 16 << 20
    /// Changes of one region that are kept for visits that run and may have read what was before.
    package var lateRevisions = 16_384
    /// Bytes of them.
    package var lateBytes = 32 << 20
    /// Revisions from one keyframe of a region to the next: a whole value of it.
    package var keyframeDistance = 64
    /// Bytes of a larger value, of which no keyframes are kept.
    package var keyframeBytes = 128 << 10
    /// Entries of a history that a reader is given at a time.
    package var historyPage = 256
    /// Bytes of what one step of a preview sends as patches; regions beyond them are sent whole.
    package var previewBytes = 4 << 20
    /// Revisions that one step of a preview goes at most.
    package var previewSteps = 1_024
    /// A value that is delivered or that a flow gives; larger ones do not fit into a frame.
    package var visitBytes = 16_776_192
    /// What a repeat is given at once: a value with all that its stage has read, or the values that
    /// one commit was made on. More is no message, in pieces neither.
    package var repeatBytes = 127 << 20
    /// Calls and pipes of handlers, each asked for by a visit of the one before.
    package var depth = 64
    /// Bytes of a key of the caller's own. It is kept with its flow and is not counted elsewhere.
    package var keyBytes = 512
    /// Events that one channel keeps.
    package var channelEvents = 65_536
    /// Bytes of them.
    package var channelBytes = 16 << 20
    /// Bytes of one event.
    package var eventBytes = 1 << 20
    /// Events that a reader of a channel is given at a time.
    package var pageEvents = 1_024
    /// Bytes of them; a larger event comes alone.
    package var pageBytes = 256 << 10
    /// Bytes of the code and of the message of an error, whoever gives, keeps or tells it; the rest
    /// is cut off.
    package var errorBytes = 4 << 10
    /// Entries of `Kernel.Errors`.
    package var errors = 256
    /// Ends of flows and visits that the trace keeps.
    package var traceEntries = 16_384
    /// Bytes of them.
    package var traceBytes = 8 << 20
    /// Bytes of a payload, or of an error's message, that the trace keeps.
    package var tracePayload = 512
    /// Entries that a reader of the trace is given at a time.
    package var tracePage = 1_024
    /// The longest time for which a reader keeps the trace on before it must ask again.
    package var traceHold: UInt64 = 600_000_000_000

    /// The defaults of the house.
    package init() {}
}
