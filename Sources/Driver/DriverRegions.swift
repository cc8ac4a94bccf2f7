package import Control
package import Kernel
package import Values
import Wire

/// Regions on one cable, and the order of all that depends on them.
///
/// Who does not read is sent no more patches. What is told meanwhile (a visit, an answer, a reply)
/// may rest on a change that was dropped, so it is held until the places that were missed have been
/// sent whole, together. That costs nobody time: it would stand behind the unread bytes anyway.
extension CableDriver {
    /// Where what rests on the regions is written.
    var ordered: CBORWriter { lagging ? held : output }

    /// Bytes of what is told once the peer has caught up.
    package var heldBytes: Int { held.count }

    /// What was written has all been sent: what was dropped is made good, then what was held.
    package func caughtUp() {
        guard let peer else { return }
        if owesEvents {
            owesEvents = false
            hub.goOn(peer)
        }
        guard lagging else { return }
        lagging = false
        let names = missed
        missed = []
        hub.resync(peer, names)
        guard held.count > 0 else { return }
        held.withBytes { output.raw($0) }
        held.forget()
        tell()
    }

    /// Whether patches are dropped now, because the peer has not taken what was sent before.
    func isLagging() -> Bool {
        guard !lagging else { return true }
        lagging = output.count + (owner?.backlog(self) ?? 0) > DriverLimits.backlog
        return lagging
    }

    package func together(_ count: Int) {
        guard !isLagging() else { return }
        batch = count
        output.together(UInt64(count))
    }

    package func snapshot(region: String, at revision: Revision, _ value: Value) {
        guard isSent([region]) else { return }
        output.snapshot(
            region: region, epoch: revision.epoch, counter: revision.counter, value)
        tell()
    }

    package func patch(_ update: Update) {
        let isOfBatch = batch > 0
        guard isSent(update.changes.lazy.map(\.region)) else { return }
        guard write(update) else {
            // Nobody could read the frame. Of what belongs together, the whole value takes its
            // place.
            if isOfBatch { batch += 1 }
            if let peer { hub.resync(peer, Set(update.changes.map(\.region))) }
            return
        }
        tell()
    }

    private func isSent(_ regions: some Sequence<String>) -> Bool {
        if batch > 0 {
            batch -= 1
            return true
        }
        guard isLagging() else { return true }
        missed.formUnion(regions)
        return false
    }

    /// Writes the frame of a commit: the first cable makes it for all.
    /// - Returns: false, and nothing is written, where it is larger than a frame may be.
    private func write(_ update: Update) -> Bool {
        let most = WireLimits.frame + 4
        if let bytes = update.encoded {
            if bytes.count <= most { output.raw(bytes) }
            return bytes.count <= most
        }
        let start = output.count
        output.patch(
            epoch: update.revision.epoch, counter: update.revision.counter, update.changes)
        let size = output.count - start
        update.encoded = [UInt8](UnsafeRawBufferPointer(rebasing: output.written[start...]))
        if size > most { output.truncate(to: start) }
        return size <= most
    }

    // MARK: - From the peer

    func follow(_ peer: Peer, _ id: UInt64, _ region: String) {
        do {
            try hub.follow(peer, region: region)
            reply(call: id, .success(CBORCoding().void))
        } catch {
            fail(id, error)
        }
    }

    func resume(_ peer: Peer, _ id: UInt64, _ places: [PeerMessage.Known]) {
        let lags = isLagging()
        let wanted = places.map {
            // What a peer that lags has may be older than what it names.
            Hub.Subscription(
                name: $0.region,
                known: lags || $0.epoch == 0
                    ? nil : Revision(epoch: $0.epoch, counter: $0.counter))
        }
        do {
            let continuations = try hub.follow(peer, wanted)
            let writer = CBORWriter()
            writer.value(.array(continuations.map { .text($0.rawValue) }))
            reply(call: id, .success(writer.bytes))
        } catch {
            fail(id, error)
        }
    }

    func check(_ peer: Peer, _ id: UInt64, _ region: String) {
        do {
            let (revision, value) = try hub.followed(region, by: peer)
            ordered.digest(
                region: region, epoch: revision.epoch, counter: revision.counter,
                ContentDigest.of(value))
            reply(call: id, .success(CBORCoding().void))
        } catch {
            fail(id, error)
        }
    }
}
