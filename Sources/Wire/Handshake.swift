package import Control
package import Values

/// The first message of a peer. It is a map, so that later builds can add to it, and it stays
/// readable for ever, so that builds which cannot talk can say so.
package struct Hello {
    /// The wire that the peer speaks.
    package var wire: UInt64
    /// The peer's build, for people.
    package var build: String
    /// What a client calls itself; a device's name comes from its manifest.
    package var name: String
    /// How a device answers its symbols; nil for a client.
    package var bindings: [Binding]?
    /// The shapes of the events that a device publishes, by their channels; not all need be told.
    package var publishes: [String: String] = [:]

    package init(name: String, bindings: [Binding]?) {
        self.wire = WireVersion.wire
        self.build = WireVersion.build
        self.name = name
        self.bindings = bindings
    }

    /// The hello of a map; members that this build does not know are passed over.
    package init(value: Value) throws(WireError) {
        guard let wire = value["wire"]?.int, wire >= 0 else { throw .field("hello.wire") }
        self.wire = UInt64(wire)
        build = value["build"]?.text ?? "?"
        guard build.utf8.count <= WireLimits.name else { throw .field("hello.build") }
        name = value["name"]?.text ?? "?"
        guard name.utf8.count <= WireLimits.name else { throw .field("hello.name") }
        for (channel, shape) in value["publishes"]?.map ?? [:] {
            guard let shape = shape.text, !channel.isEmpty, channel.utf8.count <= WireLimits.name,
                publishes.count < WireLimits.bindings
            else { throw .field("hello.publishes") }
            publishes[channel] = shape
        }
        guard let list = value["bindings"]?.array else {
            bindings = nil
            return
        }
        guard list.count <= WireLimits.bindings else { throw .field("hello.bindings") }
        var read: [Binding] = []
        for item in list { read.append(try Binding(value: item)) }
        bindings = read
    }

    /// The map of the hello.
    package var value: Value {
        var map: [String: Value] = [
            "wire": .int(Int64(clamping: wire)), "build": .text(build), "name": .text(name),
        ]
        if let bindings { map["bindings"] = .array(bindings.map(\.value)) }
        if !publishes.isEmpty { map["publishes"] = .map(publishes.mapValues(Value.text)) }
        return .map(map)
    }
}

extension Binding {
    init(value: Value) throws(WireError) {
        guard let name = value["name"]?.text, !name.isEmpty, name.utf8.count <= WireLimits.name
        else { throw .field("binding.name") }
        guard let attempt = UInt32(exactly: value["attempt"]?.int ?? 3_000),
            let deadline = UInt32(exactly: value["deadline"]?.int ?? 10_000)
        else { throw .field("binding.deadline") }
        let traits = Traits(
            value["replay"]?.text.flatMap(Traits.Replay.init(rawValue:)),
            lane: value["lane"]?.text, summary: value["summary"]?.text ?? "", attempt: attempt,
            deadline: deadline)
        var stages: [StageDescriptor]?
        if let list = value["stages"]?.array {
            var read: [StageDescriptor] = []
            for item in list { read.append(try StageDescriptor(value: item, depth: 0)) }
            stages = read
        }
        self.init(
            name: name, traits: traits, stages: stages, last: value["finally"]?.bool ?? false,
            takes: value["takes"]?.text ?? "", gives: value["gives"]?.text ?? "")
    }

    var value: Value {
        var map: [String: Value] = [
            "name": .text(name), "summary": .text(traits.summary),
            "attempt": .int(Int64(traits.attempt)), "deadline": .int(Int64(traits.deadline)),
            "finally": .bool(last),
        ]
        if !takes.isEmpty { map["takes"] = .text(takes) }
        if !gives.isEmpty { map["gives"] = .text(gives) }
        if let replay = traits.replay { map["replay"] = .text(replay.rawValue) }
        if let lane = traits.lane { map["lane"] = .text(lane) }
        if let stages { map["stages"] = .array(stages.map(\.value)) }
        return .map(map)
    }
}

extension StageDescriptor {
    init(value: Value, depth: Int) throws(WireError) {
        guard let kind = value["kind"]?.text.flatMap(Kind.init(rawValue:)) else {
            throw .field("stage.kind")
        }
        guard depth < WireLimits.nestedForks else { throw .field("the depth of the forks") }
        var branches: [RouteDescriptor] = []
        for item in value["branches"]?.array ?? [] {
            branches.append(try RouteDescriptor(value: item, depth: depth + 1))
        }
        self.init(
            kind: kind, symbol: value["symbol"]?.text,
            notes: value["notes"]?.array?.compactMap(\.text) ?? [],
            shape: value["shape"]?.text ?? "", file: value["file"]?.text ?? "",
            line: UInt(clamping: value["line"]?.int ?? 0), branches: branches,
            diverts: value["diverts"]?.array?.compactMap(\.text) ?? [])
    }

    package var value: Value {
        var map: [String: Value] = [
            "kind": .text(kind.rawValue), "symbol": symbol.map(Value.text) ?? .null,
            "notes": .array(notes.map(Value.text)), "shape": .text(shape), "file": .text(file),
            "line": .int(Int64(clamping: line)),
        ]
        if kind == .fork {
            map["branches"] = .array(branches.map(\.value))
        }
        if !diverts.isEmpty { map["diverts"] = .array(diverts.map(Value.text)) }
        return .map(map)
    }
}

extension RouteDescriptor {
    init(value: Value, depth: Int = 0) throws(WireError) {
        var stages: [StageDescriptor] = []
        for stage in value["stages"]?.array ?? [] {
            stages.append(try StageDescriptor(value: stage, depth: depth))
        }
        self.init(
            stages: stages, last: value["finally"]?.bool ?? false,
            gives: value["gives"]?.text ?? "")
    }

    package var value: Value {
        var map: [String: Value] = [
            "stages": .array(stages.map(\.value)), "finally": .bool(last),
        ]
        if !gives.isEmpty { map["gives"] = .text(gives) }
        return .map(map)
    }
}

/// The kernel's answer to a hello that it accepts.
package struct Welcome {
    package var wire: UInt64
    package var build: String
    package var epoch: UInt64
    package var incarnation: UInt64
    /// The regions that a device is sent at once.
    package var regions: [String]
    /// Calls and bytes that the connection may have open.
    package var openCalls: UInt64
    package var openBytes: UInt64
    package var pid: UInt64
    /// The process gets one visit, beside the one that serves.
    package var isCell: Bool

    package init(
        epoch: UInt64, incarnation: UInt64, regions: [String], openCalls: UInt64,
        openBytes: UInt64, pid: UInt64, isCell: Bool = false
    ) {
        wire = WireVersion.wire
        build = WireVersion.build
        self.epoch = epoch
        self.incarnation = incarnation
        self.regions = regions
        self.openCalls = openCalls
        self.openBytes = openBytes
        self.pid = pid
        self.isCell = isCell
    }

    package init(value: Value) throws(WireError) {
        func number(_ key: String) throws(WireError) -> UInt64 {
            guard let number = value[key]?.int, number >= 0 else { throw .field("welcome.\(key)") }
            return UInt64(number)
        }
        wire = try number("wire")
        build = value["build"]?.text ?? "?"
        epoch = try number("epoch")
        incarnation = try number("incarnation")
        regions = value["regions"]?.array?.compactMap(\.text) ?? []
        openCalls = try number("openCalls")
        openBytes = try number("openBytes")
        pid = try number("pid")
        isCell = value["cell"]?.bool ?? false
    }

    package var value: Value {
        var map: [String: Value] = [
            "wire": .int(Int64(clamping: wire)), "build": .text(build),
            "epoch": .int(Int64(clamping: epoch)),
            "incarnation": .int(Int64(clamping: incarnation)),
            "regions": .array(regions.map(Value.text)),
            "openCalls": .int(Int64(clamping: openCalls)),
            "openBytes": .int(Int64(clamping: openBytes)), "pid": .int(Int64(clamping: pid)),
        ]
        if isCell { map["cell"] = .bool(true) }
        return .map(map)
    }
}
