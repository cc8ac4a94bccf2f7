package import Control
package import Values

// How a call or a question of a visit ended. Both are answered with the same fields, behind the
// number of the call, or those of the visit and its question.

extension KernelMessage {
    /// How a question ended.
    package enum Reply {
        case output(UnsafeRawBufferPointer)
        case failure(KernelError)
        /// The commit is made; in a repeat, the values that it was applied to.
        case committed(revision: UInt64, values: [Value]?)
        /// The same in a repeat, as what differs from the values of an earlier commit of the visit.
        case repeated(revision: UInt64, since: UInt64, [Patch])
        case conflict
        /// The event stands in its channel under this number.
        case published(UInt64)
        /// What comes after an event of a channel.
        case events(after: UInt64, [WireEvent])
        /// Events of a channel that are no longer kept.
        case gap(from: UInt64, to: UInt64)

        /// With that of its kind.
        var fields: Int {
            switch self {
            case .output, .failure, .published: 2
            case .committed, .events, .gap: 3
            case .repeated: 4
            case .conflict: 1
            }
        }
    }
}

/// What the kinds of replies are numbered with.
private enum ReplyKind: UInt64 {
    case output = 0
    case failure = 1
    case committed = 2
    case conflict = 3
    case published = 4
    case events = 5
    case gap = 6
    case repeated = 7
}

extension CBORReader {
    mutating func reply() throws -> KernelMessage.Reply {
        switch ReplyKind(rawValue: try uint()) {
        case .output: return .output(try bytes())
        case .failure: return .failure(try error())
        case .committed:
            let revision = try uint()
            guard !skipNull() else { return .committed(revision: revision, values: nil) }
            var values: [Value] = []
            for _ in 0..<(try array()) { values.append(try value()) }
            return .committed(revision: revision, values: values)
        case .conflict: return .conflict
        case .published: return .published(try uint())
        case .events: return try events()
        case .gap: return try gap()
        case .repeated:
            return .repeated(revision: try uint(), since: try uint(), try patches())
        case nil: throw WireError.field("reply")
        }
    }
}

extension CBORWriter {
    /// The reply to a call.
    ///
    /// - Parameter count: the fields that `fields` writes.
    @inline(__always)
    private func reply(
        _ id: UInt64, _ kind: ReplyKind, _ count: Int, _ fields: (CBORWriter) -> Void
    ) {
        frame(.reply, 2 + count) {
            $0.uint(id)
            $0.uint(kind.rawValue)
            fields($0)
        }
    }

    /// The answer to a question of a visit.
    @inline(__always)
    private func answer(
        _ visit: UInt64, _ tag: UInt64, _ kind: ReplyKind, _ count: Int,
        _ fields: (CBORWriter) -> Void
    ) {
        frame(.answer, 3 + count) {
            $0.uint(visit)
            $0.uint(tag)
            $0.uint(kind.rawValue)
            fields($0)
        }
    }

    // MARK: - To a call

    package func output(reply id: UInt64, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { output(reply: id, $0) }
    }

    package func output(reply id: UInt64, _ bytes: UnsafeRawBufferPointer) {
        reply(id, .output, 1) { $0.bytes(bytes) }
    }

    package func failure(reply id: UInt64, _ error: KernelError) {
        reply(id, .failure, 1) { $0.error(error) }
    }

    package func published(reply id: UInt64, _ sequence: UInt64) {
        reply(id, .published, 1) { $0.uint(sequence) }
    }

    /// - Parameters:
    ///   - count: how many events `write` writes.
    ///   - write: each of them, with `event`.
    package func events(
        reply id: UInt64, after: UInt64, count: Int, _ write: (CBORWriter) -> Void
    ) {
        reply(id, .events, 2) {
            $0.uint(after)
            $0.array(count)
            write($0)
        }
    }

    package func gap(reply id: UInt64, from: UInt64, to: UInt64) {
        reply(id, .gap, 2) {
            $0.uint(from)
            $0.uint(to)
        }
    }

    // MARK: - To a visit

    package func output(answer visit: UInt64, _ tag: UInt64, _ bytes: [UInt8]) {
        answer(visit, tag, .output, 1) { $0.bytes(bytes) }
    }

    package func failure(answer visit: UInt64, _ tag: UInt64, _ error: KernelError) {
        answer(visit, tag, .failure, 1) { $0.error(error) }
    }

    package func committed(
        answer visit: UInt64, _ tag: UInt64, revision: UInt64, values: [Value]?
    ) {
        answer(visit, tag, .committed, 2) {
            $0.uint(revision)
            guard let values else { return $0.null() }
            $0.array(values.count)
            for value in values { $0.value(value) }
        }
    }

    /// The commit is made, in a repeat that was told the values of an earlier one.
    package func repeated(
        answer visit: UInt64, _ tag: UInt64, revision: UInt64, since earlier: UInt64,
        _ patches: [Patch]
    ) {
        answer(visit, tag, .repeated, 3) {
            $0.uint(revision)
            $0.uint(earlier)
            $0.array(patches.count)
            for patch in patches { $0.patch(patch) }
        }
    }

    package func conflict(answer visit: UInt64, _ tag: UInt64) {
        answer(visit, tag, .conflict, 0) { _ in }
    }

    package func published(answer visit: UInt64, _ tag: UInt64, _ sequence: UInt64) {
        answer(visit, tag, .published, 1) { $0.uint(sequence) }
    }
}
