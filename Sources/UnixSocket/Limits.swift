/// Every limit of the room, in one place.
package enum SocketLimits {
    /// The bytes that one connection may read in one turn, so that a flood does not starve the
    /// others.
    package static let readBytes = 256 << 10
    /// The rest of an unfinished frame up to this size waits in a small buffer and is joined in the
    /// shared scratch.
    package static let smallRest = 16 << 10
    /// A buffer of up to this capacity is kept when it is empty.
    package static let keptCapacity = 64 << 10
    /// A buffer of up to this capacity is kept while traffic makes use of it; a larger one is freed
    /// when empty.
    package static let busyCapacity = 256 << 10
    /// The most that `readAll` takes from one connection; many times what a socket holds.
    package static let drainBytes = 64 << 20
    /// The descriptors that ride with one message.
    package static let messageDescriptors = 16
    /// The received descriptors that may wait to be taken; a peer that sends more is cut off.
    package static let waitingDescriptors = 64
    /// The connections that one listener accepts in one turn.
    package static let acceptsPerTurn = 16
    /// The connections that may wait to be accepted.
    package static let backlog: Int32 = 128
    /// The times that a starting server tries to take a lock, 10 ms apart.
    package static let lockTries = 50
    /// How long, in milliseconds, a starting server waits for one that answers still and may have
    /// been killed a moment ago.
    package static let dyingMilliseconds: Int32 = 200
    /// The times that a server whose socket is gone tries to put it back, each after twice the time
    /// of the one before; then it waits until its folder changes.
    package static let returnTries = 8
    /// The reads of what has happened to a folder in one turn; what is left is read in the next.
    package static let watchReadsPerTurn: Int32 = 16
    /// The first of these times, in nanoseconds.
    package static let returnPause: UInt64 = 10_000_000
    /// How long a listener rests, in nanoseconds, when the system is out of memory.
    package static let acceptPause: UInt64 = 100_000_000
    /// The events that one turn takes from epoll.
    package static let eventsPerTurn = 1024
    /// The rounds of tasks in one turn, before descriptors get their turn again.
    package static let jobRounds = 64
    /// The bytes of a socket's path: `sun_path` less its end mark.
    package static let pathBytes = 107
}
