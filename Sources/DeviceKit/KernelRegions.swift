public import Control
internal import UnixSocket
public import Values
internal import Wire

/// What a client sees of the buffer. A place is the name of a region, or that name, a `#` and a
/// pointer (RFC 6901) to a part of it: `LibraryState#/slideshows/0`. The value of a part is an
/// array: of what stands there, or empty.
extension Kernel {
    /// The regions as they change.
    public var buffer: LiveBuffer {
        LiveBuffer(mirror: mirror, attend: { try await self.attend($0) }, leave: { self.leave($0) })
    }

    /// Follows a place: its state now, then each change.
    /// - Throws: `KernelError` when there is no such region.
    public func follow(
        _ place: String, _ observer: @escaping @LoopActor (RegionUpdate) -> Void
    ) async throws {
        let observation = mirror.observe(place, observer)
        do {
            try await attend(place)
        } catch {
            // The kernel may have taken the question all the same.
            leave(observation)
            throw error
        }
    }

    /// Follows several places; what they are at first is told together, at one revision.
    /// - Throws: `KernelError` when one of the regions is not there; none is followed then.
    public func follow(
        _ places: [String], _ observer: @escaping @LoopActor (String, RegionUpdate) -> Void
    ) async throws {
        for place in places { try FrameRoom.check(name: place) }
        let observations = places.map { place in mirror.observe(place) { observer(place, $0) } }
        let unknown = places.filter { mirror.regions[$0] == nil }
        guard !unknown.isEmpty else { return }
        do {
            let known = unknown.map { PeerMessage.Known(region: $0, epoch: 0, counter: 0) }
            _ = try await ask { id, link in link.send { $0.resume(id: id, known) } }
        } catch {
            for observation in observations { leave(observation) }
            throw error
        }
    }

    /// Sees to it that the mirror has a place.
    func attend(_ place: String) async throws {
        guard mirror.regions[place] == nil else { return }
        try FrameRoom.check(name: place)
        _ = try await ask { id, link in link.send { $0.follow(id: id, region: place) } }
    }

    /// Observes no more; the kernel is told when nobody else here does.
    func leave(_ observer: Mirror.Observer) {
        guard mirror.forget(observer) else { return }
        mirror.drop(observer.place)
        // What is no name was not asked for either.
        guard FrameRoom.isName(observer.place) else { return }
        link?.send { $0.unfollow(region: observer.place) }
    }

    /// Follows a region by its type; the observer is told the latest state after each change.
    /// - Throws: `KernelError` when there is no such region.
    public func observe<R: Region>(
        _ region: R.Type, _ observer: @escaping @LoopActor (Result<R, any Error>) -> Void
    ) async throws {
        try await follow(R.region) { [unowned mirror] _ in
            guard let state = mirror.regions[R.region] else { return }
            observer(Result { try R.decoded(state.value) })
        }
    }

    /// The value of a place that is followed.
    public func value(of place: String) -> (revision: Revision, value: Value)? {
        mirror.regions[place].map { ($0.revision, $0.value) }
    }

    /// Compares a place that is followed with the kernel's by a digest. What differs is sent anew,
    /// and the kernel notes it.
    /// - Returns: whether nothing differed.
    /// - Throws: `KernelError` when the place is not followed.
    public func verify(_ place: String) async throws -> Bool {
        try FrameRoom.check(name: place)
        let before = mirror.comparisons
        _ = try await ask { id, link in link.send { $0.check(id: id, region: place) } }
        return mirror.comparisons.all > before.all
            && mirror.comparisons.differing == before.differing
    }

    /// Follows on this connection what an earlier one followed.
    func resume() async throws {
        let known = mirror.known
        guard !known.isEmpty else { return }
        // One message holds so many: more is more than the kernel allows anyway.
        _ = try await ask { id, link in link.send { $0.resume(id: id, known) } }
    }
}

extension CBORWriter {
    func mismatch(_ mismatch: Mirror.Mismatch) {
        self.mismatch(
            region: mismatch.place, epoch: mismatch.revision.epoch,
            counter: mismatch.revision.counter)
    }
}
