import Control
import Installation
import Kernel

/// The regions and channels of the manifests.
extension House {
    /// Allocates the regions.
    ///
    /// - Throws: `ManifestError` naming the file and the key.
    static func declareRegions(
        _ found: [ManifestSearch.Found], in hub: Hub
    ) throws(ManifestError) {
        for one in found {
            for region in one.manifest.regions {
                try blame(one.file, "regions") { () throws(KernelError) in
                    try hub.declare(
                        region: region.name, initial: region.initial, history: region.history)
                }
            }
        }
    }

    /// Makes them all, and attaches who follows, before anybody can publish: what is published
    /// before a follower has started waits for it.
    ///
    /// - Throws: `ManifestError` naming the file and the key.
    static func declareChannels(
        _ found: [ManifestSearch.Found], in hub: Hub
    ) throws(ManifestError) {
        for (file, channel) in found.flatMap({ one in
            one.manifest.channels.map { (one.file, $0) }
        }) {
            try blame(file, "channels") { () throws(KernelError) in
                try hub.declare(
                    channel: channel.name, events: channel.events, bytes: channel.bytes)
            }
        }
        for one in found {
            for name in one.manifest.publishes {
                try blame(one.file, "publishes") { () throws(KernelError) in
                    _ = try hub.channel(name)
                }
            }
            for follow in one.manifest.follows {
                try blame(one.file, "follows") { () throws(KernelError) in
                    try hub.attach(follow.symbol, to: follow.channel)
                }
            }
        }
        hub.showChannels()
    }

    private static func blame(
        _ file: String, _ key: String, _ body: () throws(KernelError) -> Void
    ) throws(ManifestError) {
        do throws(KernelError) {
            try body()
        } catch {
            throw ManifestError(file: file, what: "\(key): \(error.message)")
        }
    }
}
