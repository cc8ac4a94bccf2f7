internal import Control
internal import Values

/// What can be called, and how it is answered, as the running kernel shows it: the regions
/// `Kernel.Symbols` and `Kernel.Pipes`. They change when a manifest or an announcement does.
extension Hub {
    /// Follows the last of the declarations, which does not show itself.
    package func showSymbols() {
        let pipes = Set(bindings.filter { $0.stages != nil }.map(\.name))
        let rows = callable.compactMap { symbols[$0] }.map { slot in
            slot.row(isPipe: pipes.contains(slot.name), follows: followed(by: slot))
        }
        set(region: RegionSlot.symbols, .array(rows))
    }

    func showPipes() {
        let pipes = bindings.filter { $0.stages != nil }.sorted { $0.name < $1.name }
        let rows = pipes.map { binding -> Value in
            var map = Self.members(of: binding.stages ?? [], binding.last, binding.name)
            map["symbol"] = .text(binding.name)
            map["device"] = symbols[binding.name]?.device.map { .text($0.name) } ?? .null
            map["summary"] = .text(binding.traits.summary)
            map["takes"] = .text(binding.takes)
            map["gives"] = .text(binding.gives)
            return .map(map)
        }
        set(region: RegionSlot.pipes, .array(rows))
    }

    private static func members(
        of stages: [StageDescriptor], _ last: Bool, _ owner: String
    ) -> [String: Value] {
        let rows = stages.enumerated().map { index, stage in
            row(of: stage, "\(owner)#\(index)")
        }
        return [
            "stages": .array(rows), "finally": last ? .text("\(owner)#finally") : .null,
        ]
    }

    /// - Parameter place: the name of the closure that stands there, or of the fork.
    private static func row(of stage: StageDescriptor, _ place: String) -> Value {
        var map: [String: Value] = [
            "kind": .text(stage.kind.rawValue), "notes": .array(stage.notes.map(Value.text)),
            "shape": .text(stage.shape), "file": .text(stage.file),
            "line": .int(Int64(clamping: stage.line)),
        ]
        if !stage.diverts.isEmpty { map["diverts"] = .array(stage.diverts.map(Value.text)) }
        switch stage.kind {
        case .pipe, .tap: map["symbol"] = stage.symbol.map(Value.text) ?? .null
        case .closure, .effect: map["symbol"] = .text(place)
        case .withRequest: map["symbol"] = .null
        case .fork:
            map["symbol"] = .null
            map["branches"] = .array(
                stage.branches.enumerated().map { number, branch in
                    .map(members(of: branch.stages, branch.last, "\(place).\(number)"))
                })
        }
        return .map(map)
    }
}

extension SymbolSlot {
    fileprivate func row(isPipe: Bool, follows: [String]) -> Value {
        var kind = "handler"
        if builtin != nil { kind = "kernel" } else if isPipe { kind = "pipe" }
        return .map([
            "name": .text(name), "device": device.map { .text($0.name) } ?? .null,
            "instances": device.map { .int(Int64($0.seats)) } ?? .null,
            "kind": known ? .text(kind) : .null, "summary": .text(traits.summary),
            "replay": builtin == nil ? .text(replay.rawValue) : .null,
            "follows": .array(follows.map(Value.text)), "takes": .text(takes),
            "gives": .text(gives),
            "lane": traits.lane.map(Value.text) ?? .null,
            "attempt": builtin == nil ? .int(Int64(traits.attempt)) : .null,
            "deadline": builtin == nil ? .int(Int64(traits.deadline)) : .null,
        ])
    }
}
