package import UnixSocket

/// Where a line of a device's log comes from.
package enum LogStream: String, Sendable {
    case out
    case err
    /// The supervisor says it.
    case kernel
}

/// Whoever routes messages for the devices, each by the name of its seat. Calls come in the order
/// in which things happen; a call of the supervisor from inside of one takes effect after it.
@LoopActor
package protocol SupervisorDelegate: AnyObject {
    /// A process runs; `cable` is the kernel's end of its socket pair. A cell gets one visit.
    /// `program` is another number when its file is another or has been written anew.
    func launched(
        _ device: String, incarnation: Int, isCell: Bool, pid: Int32, program: UInt64,
        cable: consuming OwnedDescriptor)
    /// The process is dead: read what is left on its cable. `died` follows.
    func readDry(_ device: String, incarnation: Int)
    /// The visits that the process holds.
    func open(_ device: String, incarnation: Int) -> ProcessLoad
    /// A death is settled: one verdict for each visit that `open` listed. Those up to `begun` had
    /// begun, `UInt64.max` without a page; `running` is the one whose code ran, or 0.
    func died(
        _ device: String, incarnation: Int, begun: UInt64, running: UInt64,
        verdicts: [(visit: UInt64, verdict: VisitVerdict)], death: Death)
    /// A cell that was asked for does not come; `failed`: nor would another one.
    func cellLost(_ device: String, failed: Bool)
    /// Ask it to finish what it has and to go.
    func drain(_ device: String, incarnation: Int)
    /// Ask it for a sign of life.
    func ping(_ device: String, incarnation: Int)
    /// The visit has taken too long.
    func cancel(_ device: String, incarnation: Int, visit: UInt64)
    /// It is not coming back by itself: who waits for it is told `unavailable`.
    func refuse(_ device: String, _ state: DeviceState)
    /// The new process of a swap died before it was ready. `servesOn`: the old one is there still.
    func swapFailed(_ device: String, reason: String, servesOn: Bool)
    func changed(_ status: DeviceStatus)
    /// Everything is down after `shutdown`.
    func exited()
    func log(_ device: String, _ stream: LogStream, _ line: String)
    /// The device's log file cannot be written, or is not kept as it should be; told once, until it
    /// is well again.
    func logFailed(_ device: String, _ reason: String)
}
