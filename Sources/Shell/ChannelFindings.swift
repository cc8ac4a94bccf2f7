import Installation

extension GrantFindings {
    /// Channels that manifests name: who starts a kernel with an unknown one is refused.
    static func channels(of manifests: [ManifestSearch.Found]) -> [Finding] {
        let devices = manifests.map(\.manifest).filter { $0.role == .device }
        var owners: [String: [String]] = [:]
        for device in devices {
            for channel in device.channels { owners[channel.name, default: []].append(device.name) }
        }
        let doubled = owners.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map {
            Finding.fail(
                .grants, "\($0.value.joined(separator: " and ")) declare the channel \($0.key)",
                "let one of them declare it")
        }
        let unknown = devices.flatMap { device in
            device.publishes.map { (device.name, "publishes to", $0) }
                + device.follows.map { (device.name, "follows", $0.channel) }
        }.filter { owners[$0.2] == nil }.map { name, does, channel in
            Finding.fail(
                .grants, "\(name) \(does) \(channel), which no manifest declares",
                "declare it under `channels`")
        }
        let published = Set(devices.flatMap(\.publishes))
        let silent = devices.flatMap { device in
            device.follows.filter { owners[$0.channel] != nil && !published.contains($0.channel) }
                .map { (device.name, $0.channel) }
        }.map { name, channel in
            Finding.warn(
                .grants, "\(name) follows \(channel), to which only clients may publish",
                "name it under `publishes` of the device that does")
        }
        return doubled + unknown + silent
    }
}
