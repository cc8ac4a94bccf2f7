// What a peer says of the places that it follows, beside `follow` and `unfollow`.

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
    mutating func known() throws -> [PeerMessage.Known] {
        let count = try array()
        guard count >= 1, count <= WireLimits.resumed else {
            throw WireError.field("places to resume")
        }
        var known: [PeerMessage.Known] = []
        for _ in 0..<count {
            guard try array() == 3 else { throw WireError.field("place") }
            known.append(
                PeerMessage.Known(
                    region: try name(), epoch: try uint(), counter: try uint()))
        }
        return known
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
}
