internal import Control

/// What the hub answers to who publishes to a channel or reads one.
package enum ChannelAnswer {
    /// The number of the event.
    case published(UInt64)
    /// The events that follow each other after the one that the reader had; `after` is the last
    /// of them, or the newest of all where the reader had none.
    case events(after: UInt64, [ChannelEvent])
    /// The events `from` to `to` are no longer kept.
    case gap(from: UInt64, to: UInt64)
}

/// A client that has read a channel to its end and waits for more.
struct ChannelReader {
    let peer: Peer
    let id: UInt64
    let after: UInt64
}

/// Clients that read channels.
///
/// The cursor is the client's: it asks for what comes after an event, is answered with a page as
/// soon as there is one, and asks again. So a slow reader costs no more than a page, a cut
/// connection costs nothing, and who no longer asks is forgotten.
extension Hub {
    /// Asks for the events after one.
    ///
    /// - Parameters:
    ///   - epoch: the kernel's start in which the client has got `after`; nil: it does not know.
    ///   - after: nil: only what is published from now on.
    package func read(
        _ peer: Peer, _ id: UInt64, channel name: String, epoch since: UInt64?, after: UInt64?
    ) {
        do throws(KernelError) {
            guard peer.device == nil else {
                throw KernelError(
                    .denied, "a device follows \(name) by the `follows` of its manifest",
                    outcome: .none)
            }
            let slot = try channel(name)
            if let since, since != epoch {
                throw KernelError(
                    .kernelLost,
                    "the kernel has started anew (\(epoch), then it was \(since)): what was "
                        + "published to \(name) before and not read is lost", outcome: .none)
            }
            guard let after else {
                return peer.cable.channel(call: id, .events(after: slot.last, []))
            }
            guard after <= slot.last else {
                throw KernelError(
                    .malformed,
                    "nothing comes after event \(after) of \(name) yet: its newest is "
                        + "\(slot.last)", outcome: .none)
            }
            guard peer.open < limits.openCalls else { throw Hub.overloaded(peer) }
            let reader = ChannelReader(peer: peer, id: id, after: after)
            guard !answer(reader, slot) else { return }
            peer.open += 1
            peer.reading += 1
            slot.readers.append(reader)
        } catch {
            peer.cable.reply(call: id, .failure(error))
        }
    }

    /// Answers a reader, if there is something and its connection can take it.
    private func answer(_ reader: ChannelReader, _ slot: ChannelSlot) -> Bool {
        guard reader.after < slot.last, !reader.peer.cable.isFull else { return false }
        guard reader.after + 1 >= slot.first else {
            reader.peer.cable.channel(
                call: reader.id, .gap(from: reader.after + 1, to: slot.first - 1))
            return true
        }
        var page: [ChannelEvent] = []
        var bytes = 0
        var sequence = reader.after + 1
        while page.count < limits.pageEvents, let event = slot[sequence] {
            bytes += event.payload.count
            guard page.isEmpty || bytes <= limits.pageBytes else { break }
            page.append(event)
            sequence += 1
        }
        reader.peer.cable.channel(call: reader.id, .events(after: sequence - 1, page))
        return true
    }

    /// Gives what there is to those that wait for it.
    func serve(_ slot: ChannelSlot) {
        guard !slot.readers.isEmpty else { return }
        let waiting = slot.readers
        slot.readers = waiting.filter { reader in
            guard answer(reader, slot) else { return true }
            release(reader.peer)
            return false
        }
    }

    /// The connection takes events again.
    package func goOn(_ peer: Peer) {
        guard peer.reading > 0 else { return }
        for name in channelNames {
            guard let slot = channels[name] else { continue }
            if slot.readers.contains(where: { $0.peer === peer }) { serve(slot) }
        }
    }

    /// The client no longer wants to read.
    /// - Returns: false if it did not.
    func stopReading(_ peer: Peer, _ id: UInt64) -> Bool {
        guard peer.reading > 0 else { return false }
        for slot in channels.values {
            guard let index = slot.readers.firstIndex(where: { $0.peer === peer && $0.id == id })
            else { continue }
            slot.readers.remove(at: index)
            release(peer)
            peer.cable.reply(
                call: id, .failure(KernelError(.cancelled, "the client cancelled it")))
            return true
        }
        return false
    }

    /// The connection has ended.
    func stopReading(_ peer: Peer) {
        guard peer.reading > 0 else { return }
        for slot in channels.values { slot.readers.removeAll { $0.peer === peer } }
        peer.open -= peer.reading
        peer.reading = 0
    }

    private func release(_ peer: Peer) {
        peer.open -= 1
        peer.reading -= 1
    }

    /// Clients that wait for events.
    package var waitingReaders: Int { channels.values.reduce(0) { $0 + $1.readers.count } }
}
