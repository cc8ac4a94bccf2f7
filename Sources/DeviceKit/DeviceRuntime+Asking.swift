internal import Control
internal import Glibc
internal import Values
internal import Wire

/// What the code of visits asks of the kernel.
extension DeviceRuntime {
    func send(_ question: VisitState.Question, visit: UInt64, tag: UInt64) {
        guard let link else { return }
        switch question {
        case .call(let symbol, let payload):
            let number = link.number(of: symbol)
            link.send {
                $0.askCall(visit: visit, tag: tag, symbol: number, deadline: 0, payload)
            }
        case .run(let route, let payload):
            link.send { $0.askRun(visit: visit, tag: tag, route.descriptor, payload) }
        case .dispatch(let symbol, let payload):
            let number = link.number(of: symbol)
            link.send { $0.askDispatch(visit: visit, tag: tag, symbol: number, payload) }
        case .publish(let channel, let payload):
            link.send { $0.askPublish(visit: visit, tag: tag, channel: channel, payload) }
        case .commit(let offers):
            link.send { $0.askCommit(visit: visit, tag: tag, offers) }
        }
    }

    func dispatch<P, O>(_ symbol: Symbol<P, O>, _ payload: P) {
        guard let link else { return }
        do {
            let bytes = try symbol.payload.encode(payload, coding)
            try FrameRoom.check(bytes, for: symbol.name)
            let number = link.number(of: symbol.name)
            lastDispatch += 1
            link.send { $0.dispatch(id: lastDispatch, symbol: number, key: nil, bytes) }
        } catch {
            Device.complain("\(symbol.name) was not dispatched: \(error)")
        }
    }

    func publish<E>(_ channel: Channel<E>, _ event: E) {
        do {
            let bytes = try channel.event.encode(event, coding)
            try FrameRoom.check(bytes, for: channel.name)
            lastDispatch += 1
            link?.send { $0.publish(id: lastDispatch, channel: channel.name, key: nil, bytes) }
        } catch {
            Device.complain("an event for \(channel.name) was not published: \(error)")
        }
    }

    /// The values of a recorded commit, of which the kernel tells what differs.
    func recorded(
        _ visit: VisitState, _ tag: UInt64, since earlier: UInt64, _ patches: [Patch]
    ) -> [Value] {
        do {
            return try visit.recorded(tag, since: earlier, patches)
        } catch {
            Device.complain("the kernel's record of a commit does not apply: \(error)")
            exit(70)
        }
    }

    func note(visit: UInt64, region: String, number: UInt32, revision: UInt64) {
        link?.send {
            $0.note(visit: visit, region: region, number: number, revision: revision)
        }
    }
}
