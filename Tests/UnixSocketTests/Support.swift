import Glibc
import Testing

@testable import UnixSocket

/// What the tests of one loop share: all of them run on the loop's own thread.
@LoopActor
func loop() -> EventLoop { EventLoop.shared }

/// Starts the loop before the first test of a suite needs it. The tests are isolated to `LoopActor`
/// one by one and not through their suite: that would have the search for tests wait for the loop.
struct OnLoop: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        EventLoop.startOnThread()
        try await function()
    }
}

extension Trait where Self == OnLoop {
    static var onLoop: OnLoop { OnLoop() }
}

struct TimedOut: Error {}

/// Suspends tests until what they record fulfils a condition.
@LoopActor
final class Gate {
    private var waiting:
        [(condition: @LoopActor () -> Bool, go: CheckedContinuation<Bool, Never>)] =
            []

    nonisolated init() {}

    /// Looks at the conditions again.
    func changed() {
        let all = waiting
        waiting = []
        for entry in all {
            if entry.condition() { entry.go.resume(returning: true) } else { waiting.append(entry) }
        }
    }

    /// Nanoseconds after which what has not come will not come. They end a test that hangs and
    /// measure nothing.
    static nonisolated let patience: UInt64 = 240_000_000_000

    func until(_ condition: @escaping @LoopActor () -> Bool) async throws {
        if condition() { return }
        let timer = EventLoop.shared.schedule(at: Clock.monotonic + Self.patience) {
            let all = self.waiting
            self.waiting = []
            for entry in all { entry.go.resume(returning: false) }
        }
        let isFulfilled = await withCheckedContinuation { waiting.append((condition, $0)) }
        timer.cancel()
        if !isFulfilled { throw TimedOut() }
    }
}

/// Takes frames of one length byte and as many bytes, and keeps them; or, with `isRaw`, whatever
/// comes.
@LoopActor
final class Recorder: ConnectionDelegate {
    var frames: [[UInt8]] = []
    var byteCount = 0
    var offers = 0
    var reasons: [CloseReason] = []
    var isRaw = false
    var onReceive: (@LoopActor (Connection) -> Void)?
    let gate = Gate()

    nonisolated init() {}

    func connection(_ connection: Connection, received bytes: UnsafeRawBufferPointer) -> Int {
        offers += 1
        var used = 0
        if isRaw {
            used = bytes.count
        } else {
            while used < bytes.count, bytes.count - used > Int(bytes[used]) {
                let end = used + 1 + Int(bytes[used])
                frames.append(Array(bytes[(used + 1)..<end]))
                used = end
            }
        }
        byteCount += used
        onReceive?(connection)
        gate.changed()
        return used
    }

    func connection(_ connection: Connection, closed reason: CloseReason) {
        reasons.append(reason)
        gate.changed()
    }
}

/// Two connections that speak to each other.
@LoopActor
struct Line {
    let near: Connection
    let far: Connection
    let nearEnd = Recorder()
    let farEnd = Recorder()

    init(raw: Bool = false) throws {
        var pair = try socketPair()
        near = Connection(pair.takeFirst(), delegate: nearEnd)
        far = Connection(pair.takeSecond(), delegate: farEnd)
        nearEnd.isRaw = raw
        farEnd.isRaw = raw
    }

    func close() {
        near.close()
        far.close()
    }
}

extension Connection {
    func send(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { send($0) }
    }

    func send(_ bytes: [UInt8], descriptors: [Int32]) throws {
        try bytes.withUnsafeBytes { try send($0, descriptors: descriptors) }
    }
}

extension EventLoop {
    /// Comes back in a later turn.
    func nextTurn() async throws {
        let turn = turns
        while turns <= turn { try await sleep(until: now) }
    }
}

/// A directory that goes when the test ends.
func withDirectory<R>(_ body: (String) async throws -> R) async throws -> R {
    var template = Array("/tmp/concentric-test-XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { buffer in
        mkdtemp(buffer.baseAddress!).map { String(cString: $0) }
    }
    let directory = try #require(made)
    defer { remove(directory) }
    return try await body(directory)
}

private func remove(_ path: String) {
    if let handle = opendir(path) {
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." {
                var status = stat()
                let child = "\(path)/\(name)"
                if lstat(child, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                    remove(child)
                } else {
                    unlink(child)
                }
            }
        }
        closedir(handle)
    }
    rmdir(path)
}
