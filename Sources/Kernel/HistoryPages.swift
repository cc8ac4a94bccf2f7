package import Control
package import Values

/// The history of a region as readers are told it, in pages: who is slow costs the kernel nothing,
/// and is told how much it has missed.
extension Hub {
    /// A page of a region's history, the oldest entry first.
    ///
    /// - Parameters:
    ///   - after: the number of the last entry that the reader has; nil: none.
    ///   - last: so many of the newest at most, for the first page; nil: all that are kept.
    /// - Returns: `entries`; `next`, the number of the last of them; `last`, that of the newest
    ///   there is; `lost`, how many behind `after` are not kept any more; `depth`, the most that
    ///   are kept; and the revisions
    ///   `oldest`, from which on the region's value is known, and `revision`, where it is now.
    /// - Throws: `KernelError` when there is no such region, or it has no history.
    package func readHistory(
        of name: String, after: UInt64?, last: UInt64?
    ) throws(KernelError) -> Value {
        let slot = try region(name)
        guard !slot.owned else {
            throw KernelError(
                .denied,
                "\(name) is the kernel's own: it counts revisions of its own and has no history",
                outcome: .none)
        }
        let history = slot.history
        // A number from another start of the kernel says nothing here.
        let known = after.map { $0 > history.last ? 0 : $0 } ?? 0
        var begin = max(known + 1, history.first)
        if let last, last < history.last { begin = max(begin, history.last - last + 1) }
        let end = min(history.last, begin - 1 + UInt64(limits.historyPage))
        var entries: [Value] = []
        if begin <= end {
            entries = (begin...end).map { history[$0].value(epoch: epoch, number: $0) }
        }
        func revision(_ counter: UInt64) -> Value {
            .text("\(Revision(epoch: epoch, counter: counter))")
        }
        let lost = after == nil ? 0 : history.first - min(known + 1, history.first)
        return .map([
            "region": .text(name), "entries": .array(entries),
            "next": .int(Int64(clamping: end)), "last": .int(Int64(clamping: history.last)),
            "lost": .int(Int64(clamping: lost)), "depth": .int(Int64(history.depth)),
            "oldest": revision(slot.oldest),
            "revision": revision(slot.counter),
        ])
    }
}

extension History.Entry {
    /// As readers are told it.
    ///
    /// - Parameter number: among all entries of its region; nil where it stands alone.
    func value(epoch: UInt64, number: UInt64?) -> Value {
        var map: [String: Value] = [
            "revision": .text("\(Revision(epoch: epoch, counter: to))"), "at": .date(wall),
            "flow": author.map { .text("\(epoch)-\($0.flow)") } ?? .null,
            "symbol": author.map { .text($0.symbol) } ?? .null,
            "device": author.map { .text($0.device) } ?? .null,
            "operations": .int(Int64(patch.operations.count)), "bytes": .int(Int64(bytes)),
        ]
        if let number { map["number"] = .int(Int64(clamping: number)) }
        return .map(map)
    }
}
