internal import Control

/// The stages that a flow runs along. A route never changes; a device that announces another pipe
/// makes a new one, and flows go on along the route on which they started.
final class Route {
    enum Stage {
        /// The output is the next value.
        case pipe(SymbolSlot)
        /// The value stays.
        case tap(SymbolSlot)
        /// The kernel joins the request and the value.
        case withRequest
        /// A flow for each branch.
        case fork([Route])
    }

    let stages: [Stage]
    let last: SymbolSlot?
    /// The shape of what it gives.
    let gives: String
    /// Whether the output of its only stage is its own.
    let isOnePipe: Bool
    /// The place of the last stage that is given the request; -1 if there is none.
    let lastJoin: Int

    init(_ stages: [Stage], last: SymbolSlot?, gives: String = "") {
        if stages.count == 1, last == nil, case .pipe = stages[0] {
            isOnePipe = true
        } else {
            isOnePipe = false
        }
        lastJoin =
            stages.lastIndex { if case .withRequest = $0 { true } else { false } } ?? -1
        self.gives = gives
        self.stages = stages
        self.last = last
    }
}

extension RouteDescriptor {
    /// Its stages and branches, those within its forks included.
    var size: Int {
        stages.reduce(0) { sum, stage in
            stage.branches.reduce(sum + 1) { $0 + 1 + $1.size }
        }
    }
}

/// Routes are made from the descriptors of pipes, announced ones and those that a handler builds.
extension Hub {
    /// The route of a pipe.
    ///
    /// - Parameters:
    ///   - place: of the branch in its pipe; empty for the pipe itself.
    ///   - closure: the symbol of the closure at a place. It is asked in the order in which
    ///     `RouteDescriptor.closures` lists them.
    func route(
        of descriptor: RouteDescriptor, at place: String = "", _ closure: (String) -> SymbolSlot?
    ) -> Route {
        var stages: [Route.Stage] = []
        for (index, stage) in descriptor.stages.enumerated() {
            let here = "\(place)#\(index)"
            switch stage.kind {
            case .withRequest: stages.append(.withRequest)
            case .closure: if let slot = closure(here) { stages.append(.pipe(slot)) }
            case .effect: if let slot = closure(here) { stages.append(.tap(slot)) }
            case .pipe: if let other = stage.symbol.flatMap(symbol) { stages.append(.pipe(other)) }
            case .tap: if let other = stage.symbol.flatMap(symbol) { stages.append(.tap(other)) }
            case .fork:
                let branches = stage.branches.enumerated().map { number, branch in
                    route(of: branch, at: "\(here).\(number)", closure)
                }
                stages.append(.fork(branches))
            }
        }
        let last = descriptor.last ? closure("\(place)#finally") : nil
        return Route(stages, last: last, gives: descriptor.gives)
    }

    /// Whether a pipe of a device goes only where its manifest lets it.
    func check(
        _ route: RouteDescriptor, _ owner: String, _ device: DeviceSlot
    ) throws(KernelError) {
        guard route.size <= limits.stages else {
            throw KernelError(
                .tooLarge,
                "\(owner) has \(route.size) stages and branches; the limit is \(limits.stages)",
                outcome: .none)
        }
        try check(stagesOf: route, owner, device)
    }

    private func check(
        stagesOf route: RouteDescriptor, _ owner: String, _ device: DeviceSlot
    ) throws(KernelError) {
        for stage in route.stages {
            for branch in stage.branches { try check(stagesOf: branch, owner, device) }
            for name in stage.diverts { try check(name, owner, device) }
            guard stage.kind == .pipe || stage.kind == .tap else { continue }
            try check(stage.symbol ?? "a stage", owner, device)
        }
    }

    private func check(
        _ name: String, _ owner: String, _ device: DeviceSlot
    ) throws(KernelError) {
        guard symbol(name) != nil else {
            throw KernelError(.unbound, "\(owner): no manifest provides \(name)")
        }
        guard device.mayCall(name) else {
            throw KernelError(
                .denied, "\(owner): the manifest of \(device.name) may not call \(name)")
        }
    }
}
