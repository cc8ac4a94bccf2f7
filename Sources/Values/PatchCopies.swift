extension Patch {
    /// About how many bytes of a value are copied when this patch changes it: what it puts there,
    /// and on the way to it each array and one node on each level of a map. The value after it
    /// shares all else with the value before it.
    ///
    /// - Parameter limit: where counting ends.
    package func copies(of value: Value, limit: Int) -> Int {
        var sum = 0
        for operation in operations where sum < limit {
            switch operation {
            case .add(let path, let new), .replace(let path, let new):
                sum += path.copies(of: value) + new.weight(limit: limit)
            case .remove(let path): sum += path.copies(of: value)
            case .move(let from, let target):
                sum += from.copies(of: value) + target.copies(of: value)
            case .copy(_, let target): sum += target.copies(of: value)
            case .test: break
            }
        }
        return min(sum, limit)
    }
}

extension Pointer {
    fileprivate func copies(of value: Value) -> Int {
        var here = value
        var sum = 0
        for token in tokens {
            switch here {
            case .array(let items):
                sum += items.count * MemoryLayout<Value>.stride
                guard let index = Int(token), items.indices.contains(index) else { return sum }
                here = items[index]
            case .map(let members):
                sum += members.bytesOfWay
                guard let member = members[token] else { return sum }
                here = member
            default: return sum
            }
        }
        return sum
    }
}

extension Value.Members {
    /// At most the bytes of one node on each level.
    fileprivate var bytesOfWay: Int {
        var entries = count
        var sum = 0
        repeat {
            sum += Swift.min(entries, MemberNode.capacity) * MemoryLayout<Element>.stride
            entries /= MemberNode.least
        } while entries > 0
        return sum
    }
}
