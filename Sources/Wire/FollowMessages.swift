// What is said of the places that a peer follows, beside `follow`, `unfollow`, snapshots, patches.

extension PeerMessage {
    /// A place, and the revision at which the peer has it; 0 and 0 where it has nothing.
    package struct Known: Equatable {
        package var region: String
        package var epoch: UInt64
        package var counter: UInt64

        package init(region: String, epoch: UInt64, counter: UInt64) {
            self.region = region
            self.epoch = epoch
            self.counter = counter
        }
    }
}

extension CBORReader {
    mutating func follow(_ kind: MessageKind) throws -> PeerMessage {
        switch kind {
        case .resume: return .resume(id: try uint(), try known())
        case .check: return .check(id: try uint(), region: try name())
        default: return .mismatch(region: try name(), epoch: try uint(), counter: try uint())
        }
    }

    mutating func known() throws -> [PeerMessage.Known] {
        try rows("places to resume", of: 3, 1...WireLimits.resumed) { row in
            PeerMessage.Known(
                region: try row.name(), epoch: try row.uint(), counter: try row.uint())
        }
    }
}

extension CBORWriter {
    package func resume(id: UInt64, _ known: [PeerMessage.Known]) {
        frame(.resume, 2) {
            $0.uint(id)
            $0.array(known.count)
            for place in known {
                $0.array(3)
                $0.text(place.region)
                $0.uint(place.epoch)
                $0.uint(place.counter)
            }
        }
    }

    package func check(id: UInt64, region: String) {
        frame(.check, 2) {
            $0.uint(id)
            $0.text(region)
        }
    }

    package func mismatch(region: String, epoch: UInt64, counter: UInt64) {
        frame(.mismatch, 3) {
            $0.text(region)
            $0.uint(epoch)
            $0.uint(counter)
        }
    }

    package func together(_ count: UInt64) {
        frame(.together, 1) { $0.uint(count) }
    }

    package func digest(region: String, epoch: UInt64, counter: UInt64, _ digest: UInt64) {
        frame(.digest, 4) {
            $0.text(region)
            $0.uint(epoch)
            $0.uint(counter)
            $0.uint(digest)
        }
    }
}
