public import Control
internal import Values

/// Where a client is that looks at the past: see ``Kernel/preview(_:)``.
public struct Preview: Sendable, Equatable {
    /// Who made a change.
    public struct Change: Sendable, Equatable {
        /// The revision that it made.
        public var revision: Revision
        /// Milliseconds since 1970.
        public var at: Int64
        /// The flow; nil: the kernel itself.
        public var flow: String?
        /// The stage that committed.
        public var symbol: String?
        /// The device whose stage it was.
        public var device: String?

        init?(_ value: Value) {
            guard let revision = value["revision"]?.text.flatMap({ Revision($0) }),
                let at = value["at"]?.date
            else { return nil }
            self.revision = revision
            self.at = at
            flow = value["flow"]?.text
            symbol = value["symbol"]?.text
            device = value["device"]?.text
        }
    }

    /// The revision that the regions are shown at.
    public var revision: Revision
    /// The last change of what is followed, at that revision; nil when it is not kept.
    public var change: Change?
    /// The oldest revision at which all that is followed is known.
    public var oldest: Revision
    /// The last change of what is followed, so far.
    public var latest: Revision

    /// Whether there is nothing earlier that is known.
    public var isOldest: Bool { revision <= oldest }
    /// Whether there was nothing later when this was told.
    public var isLatest: Bool { revision >= latest }

    /// Whether a region that comes at a revision shows that the kernel has ended the preview.
    func isEnded(by region: String, at counter: UInt64) -> Bool {
        !region.hasPrefix("Kernel.") && counter != revision.counter
    }

    /// - Throws: `KernelError` when it is not what a kernel says.
    init(_ value: Value) throws(KernelError) {
        func revision(_ name: String) throws(KernelError) -> Revision {
            guard let revision = value[name]?.text.flatMap({ Revision($0) }) else {
                throw KernelError(.malformed, "the kernel's preview has no \(name)")
            }
            return revision
        }
        self.revision = try revision("revision")
        oldest = try revision("oldest")
        latest = try revision("latest")
        change = value["change"].flatMap { Change($0) }
    }
}

extension Kernel {
    /// Looks at the past: what this connection follows moves to a revision, and stays there until
    /// `leavePreview`. Meanwhile calls, dispatches and publishes fail with `previewing`; the
    /// kernel's own regions go on. Nobody else notices.
    ///
    /// - Throws: `KernelError` when the revision is not kept any more, with the oldest that is;
    ///   nothing has moved then.
    @discardableResult
    public func preview(_ revision: Revision) async throws -> Preview {
        try await travel(.map(["revision": .text("\(revision)")]))
    }

    /// Goes so many changes back, below 0, or forward; at the ends of what is kept it stays.
    @discardableResult
    public func preview(steps: Int) async throws -> Preview {
        try await travel(.map(["steps": .int(Int64(steps))]))
    }

    /// Returns to the present; the regions are up to date when it returns.
    public func leavePreview() async throws {
        journeys += 1
        defer { journeys -= 1 }
        _ = try await call("Kernel.History.leave", .null)
        preview = nil
    }

    private func travel(_ payload: Value) async throws -> Preview {
        journeys += 1
        defer { journeys -= 1 }
        let place = try Preview(try await call("Kernel.History.preview", payload))
        preview = place
        // Who was too slow has been brought back to the present before it was told where it is.
        for (region, state) in mirror.regions { judge(region, at: state.revision.counter, place) }
        return place
    }

    /// The kernel brings whoever is too slow back to the present: its regions then come at another
    /// revision than the one that is looked at.
    func judge(_ region: String, at counter: UInt64) {
        guard let preview, journeys == 0 else { return }
        judge(region, at: counter, preview)
    }

    private func judge(_ region: String, at counter: UInt64, _ place: Preview) {
        guard preview != nil, place.isEnded(by: region, at: counter) else { return }
        preview = nil
        onPresent?()
    }
}
