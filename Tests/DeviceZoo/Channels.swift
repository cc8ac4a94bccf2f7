import Control
import DeviceKit
import Glibc

/// Animals that publish to a channel, and animals that follow it.
extension Zoo {
    static let said = Channel<Int>("Zoo.said")

    /// Publishes numbers in one visit: the first, and how many; the number of the last event.
    static func say(of name: String) -> Symbol<[Int], UInt64> {
        Symbol("Zoo.say.\(name)", .replayable.limits(attempt: 20_000, deadline: 60_000))
    }
    /// The same, and each number also becomes the text of `ZooState`.
    static func tell(of name: String) -> Symbol<[Int], UInt64> {
        Symbol("Zoo.tell.\(name)", .replayable.limits(attempt: 20_000, deadline: 60_000))
    }
    /// Gives its payload back. Its device publishes 5,000 numbers as soon as it is ready, outside
    /// of any visit.
    static func flood(of name: String) -> Symbol<String, String> {
        Symbol("Zoo.flood.\(name)", .replayable)
    }
    /// Follows, but takes something else.
    static func misheard(of name: String) -> Symbol<[String], Void> {
        Symbol("Zoo.misheard.\(name)", .keyed)
    }
    /// Follows: writes each number and the invocation's key into a file, unless the key stands in
    /// its last line; fails for negative numbers.
    static func heard(of name: String) -> Symbol<Int, Void> {
        Symbol("Zoo.heard.\(name)", .keyed)
    }
}

extension Handlers {
    static func channels(_ word: String, _ own: String) -> (@LoopActor (Bindings) -> Void)? {
        switch word {
        case "say":
            return {
                $0.publishes(Zoo.said)
                $0.bind(Zoo.say(of: own)) { kernel, numbers in
                    var last: UInt64 = 0
                    for number in numbers[0]..<(numbers[0] + numbers[1]) {
                        last = try await kernel.publish(Zoo.said, number)
                    }
                    return last
                }
            }
        case "tell":
            return {
                $0.bind(Zoo.tell(of: own)) { kernel, numbers in
                    var last: UInt64 = 0
                    for number in numbers[0]..<(numbers[0] + numbers[1]) {
                        try await kernel.buffer.mutate(ZooState.self) { $0.text = "\(number)" }
                        last = try await kernel.publish(Zoo.said, number)
                    }
                    return last
                }
            }
        case "flood":
            return { device in
                device.bind(Zoo.flood(of: own), pure: { $0 })
                device.onReady { start in
                    for number in 1...5_000 { start.publish(Zoo.said, number) }
                }
            }
        case "misheard":
            return { $0.bind(Zoo.misheard(of: own)) { _, _ in } }
        case "heard":
            return {
                $0.bind(Zoo.heard(of: own)) { kernel, number in
                    guard number >= 0 else { throw KernelError(.failed, "\(number) is negative") }
                    try write(number, kernel.key)
                }
            }
        default: return nil
        }
    }

    /// Events come one at a time and in order, so only the last one can come again.
    nonisolated private static func write(_ number: Int, _ key: String) throws {
        let path = Place.file("heard")
        let file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw KernelError(.failed, "\(path) cannot be opened") }
        defer { close(file) }
        let end = lseek(file, 0, SEEK_END)
        var block = [UInt8](repeating: 0, count: 512)
        let count = pread(file, &block, block.count, max(0, end - off_t(block.count)))
        let text = String(decoding: block.prefix(max(0, count)), as: UTF8.self)
        if let last = text.split(separator: "\n").last, last.hasSuffix(" \(key)") { return }
        let line = "\(number) \(key)\n"
        guard line.withCString({ Glibc.write(file, $0, strlen($0)) }) == line.utf8.count else {
            throw KernelError(.failed, "\(path) cannot be written")
        }
    }
}
