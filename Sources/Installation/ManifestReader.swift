internal import Values

/// Reads the members of one manifest, and says which is wrong and how.
struct ManifestReader {
    let file: String

    func wrong(_ key: String, _ expected: String, _ found: String) -> ManifestError {
        ManifestError(file: file, what: "\(key): expected \(expected), found \(found)")
    }

    private func wrong(_ key: String, _ expected: String, _ found: Value) -> ManifestError {
        wrong(key, expected, found.json())
    }

    /// Refuses members that no build knows, because a misspelt one would silently do nothing.
    func only(
        _ known: Set<String>, in map: Value.Members, of what: String
    ) throws(ManifestError) {
        let unknown = map.keys.filter { !known.contains($0) }.sorted()
        guard unknown.isEmpty else {
            throw ManifestError(
                file: file,
                what: "\(what) has no " + unknown.map { "“\($0)”" }.joined(separator: ", ")
                    + "; there are " + known.sorted().joined(separator: ", "))
        }
    }

    func text(_ value: Value?, _ key: String) throws(ManifestError) -> String? {
        guard let value else { return nil }
        guard let text = value.text else { throw wrong(key, "text", value) }
        return text
    }

    func name(_ value: Value?, _ key: String) throws(ManifestError) -> String {
        let name = try text(value, key) ?? ""
        let allowed = name.utf8.allSatisfy { byte in
            (byte >= 0x61 && byte <= 0x7A) || (byte >= 0x41 && byte <= 0x5A)
                || (byte >= 0x30 && byte <= 0x39) || byte == 0x2D || byte == 0x5F
        }
        guard !name.isEmpty, name.utf8.count <= 64, allowed else {
            throw wrong(key, "1 to 64 letters, digits, - or _", "“\(name)”")
        }
        return name
    }

    /// The name of a device is also that of its log, and a word of the command line.
    func deviceName(_ value: Value?) throws(ManifestError) -> String {
        let name = try name(value, "name")
        guard name != Manifest.kernelName else {
            throw ManifestError(
                file: file,
                what: "name: “\(name)” is the kernel itself, in logs too; choose another name")
        }
        guard !name.hasPrefix("-") else {
            throw ManifestError(
                file: file, what: "name: “\(name)” reads like an option; begin with a letter")
        }
        return name
    }

    func texts(_ value: Value?, _ key: String) throws(ManifestError) -> [String] {
        guard let value else { return [] }
        guard let array = value.array else { throw wrong(key, "a list of texts", value) }
        var texts: [String] = []
        for item in array {
            guard let text = item.text, Self.isWhole(text) else {
                throw wrong(key, "a list of texts without a NUL", item)
            }
            texts.append(text)
        }
        return texts
    }

    /// A text that the system takes as one word.
    func word(_ value: Value?, _ key: String) throws(ManifestError) -> String? {
        guard let text = try text(value, key) else { return nil }
        guard Self.isWhole(text) else { throw wrong(key, "text without a NUL", .text(text)) }
        return text
    }

    func environment(_ value: Value?) throws(ManifestError) -> [String: String] {
        guard let value else { return [:] }
        guard let map = value.map else { throw wrong("environment", "an object of texts", value) }
        var environment: [String: String] = [:]
        for (key, item) in map {
            guard !key.isEmpty, !key.contains("="), Self.isWhole(key) else {
                throw wrong("environment", "names of variables without = and NUL", .text(key))
            }
            guard let text = item.text, Self.isWhole(text) else {
                throw wrong("environment/\(key)", "text without a NUL", item)
            }
            environment[key] = text
        }
        return environment
    }

    /// The system ends a word at its first NUL, and the rest would be lost without a word.
    private static func isWhole(_ text: String) -> Bool { !text.utf8.contains(0) }

    func word<W: RawRepresentable & CaseIterable>(
        _ value: Value?, _ key: String, _ usual: W
    ) throws(ManifestError) -> W where W.RawValue == String {
        guard let text = try text(value, key) else { return usual }
        guard let word = W(rawValue: text) else {
            throw wrong(key, W.allCases.map(\.rawValue).joined(separator: " or "), text)
        }
        return word
    }

    func seconds(_ value: Value?, _ key: String) throws(ManifestError) -> Double? {
        guard let value else { return nil }
        let number: Double? = value.int.map(Double.init) ?? value.double
        guard let number, number > 0, number <= 86_400 else {
            throw wrong(key, "seconds, above 0 and at most 86400", value)
        }
        return number
    }

    func regions(_ value: Value?) throws(ManifestError) -> [DeclaredRegion] {
        guard let value else { return [] }
        guard let array = value.array else { throw wrong("regions", "a list of objects", value) }
        var regions: [DeclaredRegion] = []
        for item in array {
            guard let map = item.map else { throw wrong("regions", "a list of objects", item) }
            try only(["history", "initial", "name", "scope"], in: map, of: "a region")
            let name = try name(map["name"], "regions/name")
            guard let initial = map["initial"] else {
                throw ManifestError(
                    file: file, what: "regions/\(name): its initial value is missing")
            }
            try scope(map["scope"], "regions/\(name)/scope")
            regions.append(
                DeclaredRegion(
                    name: name, initial: initial,
                    history: try depth(map["history"], "regions/\(name)/history")))
        }
        return regions
    }

    /// How long a region lives: as long as the kernel.
    private func scope(_ value: Value?, _ key: String) throws(ManifestError) {
        switch try text(value, key) {
        case nil, "kernel": return
        case "session":
            throw ManifestError(
                file: file,
                what: "\(key): “session” is not there yet; a region lives as long as the kernel, "
                    + "which is “kernel” or no scope at all")
        case let other?: throw wrong(key, "kernel", "“\(other)”")
        }
    }

    private func depth(_ value: Value?, _ key: String) throws(ManifestError) -> Int? {
        guard let value else { return nil }
        guard let number = value.int, number >= 0 else {
            throw wrong(key, "a whole number of revisions from 0", value)
        }
        return Int(number)
    }

    func limits(_ value: Value?) throws(ManifestError) -> Manifest.Limits {
        guard let value else { return Manifest.Limits() }
        guard let map = value.map else { throw wrong("limits", "an object", value) }
        try only(["memory", "cpuSeconds", "descriptors", "core"], in: map, of: "limits")
        var limits = Manifest.Limits()
        limits.memory = try count(
            map["memory"], "limits/memory", least: LeastLimits.memory)
        limits.cpuSeconds = try count(
            map["cpuSeconds"], "limits/cpuSeconds", least: LeastLimits.cpuSeconds)
        limits.descriptors = try count(
            map["descriptors"], "limits/descriptors", least: LeastLimits.descriptors)
        limits.core = try count(map["core"], "limits/core")
        return limits
    }

    func instances(_ value: Value?, _ role: Manifest.Role) throws(ManifestError) -> Int {
        guard let value else { return 1 }
        guard let number = value.int, number >= 1, number <= MostLimits.instances else {
            throw wrong("instances", "a whole number from 1 to \(MostLimits.instances)", value)
        }
        guard role == .device || number == 1 else {
            throw ManifestError(
                file: file, what: "instances: a \(role.rawValue) is started by the user, one by one"
            )
        }
        return Int(number)
    }

    /// - Parameter least: with less no process can work.
    private func count(
        _ value: Value?, _ key: String, least: Int64 = 0
    ) throws(ManifestError) -> UInt64? {
        guard let value else { return nil }
        guard let number = value.int, number >= least else {
            throw wrong(key, "a whole number from \(least)", value)
        }
        return UInt64(number)
    }
}
