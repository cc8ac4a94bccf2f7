import Glibc
import Testing

@testable import UnixSocket

@LoopActor
final class Door: ListenerDelegate {
    var peers: [Peer] = []
    var connections: [Connection] = []
    var refusals: [SocketError] = []
    let gate = Gate()
    nonisolated init() {}

    func listener(_ listener: Listener, accepted socket: consuming OwnedDescriptor, from peer: Peer)
    {
        peers.append(peer)
        connections.append(Connection(socket, delegate: Recorder()))
        gate.changed()
    }

    func listener(_ listener: Listener, refused peer: Peer?, because error: SocketError) {
        refusals.append(error)
        gate.changed()
    }

    var losses: [SocketError] = []
    var returns = 0

    func listener(_ listener: Listener, lost error: SocketError) {
        losses.append(error)
        gate.changed()
    }

    var unwatched: [SocketError] = []

    func listener(_ listener: Listener, unwatched error: SocketError) {
        unwatched.append(error)
        gate.changed()
    }

    func listenerReturned(_ listener: Listener) {
        returns += 1
        gate.changed()
    }
}

@Suite(.onLoop)
struct ListenerTests {
    @LoopActor private func path(in directory: String, _ name: String = "test") throws -> SocketPath
    {
        try SocketPath(name: name, runtimeDirectory: directory)
    }

    @Test @LoopActor func `a client is let in and known by its process`() async throws {
        try await withDirectory { directory in
            let path = try path(in: directory)
            let door = Door()
            let listener = try Listener(path: path, delegate: door)
            let client = try connect(path: path)
            try await door.gate.until { door.peers.count == 1 }
            #expect(door.peers[0].pid == getpid())
            #expect(door.peers[0].uid == geteuid())
            #expect(fcntl(client.number, F_GETFD) & FD_CLOEXEC != 0)
            var status = stat()
            #expect(lstat(path.directory, &status) == 0 && status.st_mode & 0o777 == 0o700)
            #expect(lstat(path.socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
            listener.close()
            listener.close()
            #expect(lstat(path.socket, &status) != 0)
            door.connections.forEach { $0.close() }
        }
    }

    @Test @LoopActor func `the socket of a dead server is replaced`() async throws {
        try await withDirectory { directory in
            let path = try path(in: directory)
            try path.prepareDirectory()
            // What a killed server leaves: its file, and nobody behind it.
            let dead = try makeSocket()
            #expect(path.withAddress { bind(dead.number, $0, $1) } == 0)
            #expect(throws: SocketError.self) { _ = try connect(path: path) }
            let door = Door()
            let listener = try Listener(path: path, delegate: door)
            _ = try connect(path: path)
            try await door.gate.until { door.peers.count == 1 }
            listener.close()
            door.connections.forEach { $0.close() }
        }
    }

    @Test @LoopActor func `a second server is refused and told the process of the first`()
        async throws
    {
        try await withDirectory { directory in
            let path = try path(in: directory)
            let listener = try Listener(path: path, delegate: Door())
            let error = #expect(throws: SocketError.self) {
                try Listener(path: path, delegate: Door())
            }
            #expect(error?.code == .inUse)
            #expect(error?.pid == getpid())
            #expect(error?.description.contains("\(getpid())") == true)
            listener.close()
            // Another name in the same directory is free, and so is this one now.
            try Listener(path: self.path(in: directory, "other"), delegate: Door()).close()
            try Listener(path: path, delegate: Door()).close()
        }
    }

    @Test @LoopActor func `a live server without the lock is refused as well`() async throws {
        try await withDirectory { directory in
            let path = try path(in: directory)
            let listener = try Listener(path: path, delegate: Door())
            unlink(path.lock)
            let error = #expect(throws: SocketError.self) {
                try Listener(path: path, delegate: Door())
            }
            #expect(error?.code == .inUse)
            #expect(error?.pid == getpid())
            listener.close()
        }
    }

    @Test @LoopActor func `what stands in the way is named and left alone`() async throws {
        try await withDirectory { directory in
            let path = try path(in: directory)
            try path.prepareDirectory()
            let obstacles: [(kind: String, make: () -> Void)] = [
                ("a symbolic link", { symlink("/tmp", path.socket) }),
                ("a regular file", { close(open(path.socket, O_CREAT | O_WRONLY, 0o600)) }),
                ("a directory", { mkdir(path.socket, 0o700) }),
                ("a pipe", { mkfifo(path.socket, 0o600) }),
            ]
            for obstacle in obstacles {
                obstacle.make()
                let error = #expect(throws: SocketError.self) {
                    try Listener(path: path, delegate: Door())
                }
                #expect(error?.code == .inTheWay)
                #expect(error?.description.contains(obstacle.kind) == true)
                #expect(error?.description.contains(path.socket) == true)
                var status = stat()
                #expect(lstat(path.socket, &status) == 0)
                #expect(Glibc.remove(path.socket) == 0)
            }
        }
    }

    @Test @LoopActor
    func `a directory that is open to others is refused with the command that closes it`()
        async throws
    {
        try await withDirectory { directory in
            let path = try path(in: directory)
            mkdir(path.directory, 0o700)
            chmod(path.directory, 0o755)
            let error = #expect(throws: SocketError.self) {
                try Listener(path: path, delegate: Door())
            }
            #expect(error?.code == .unsafeDirectory)
            #expect(error?.description.contains("0755") == true)
            #expect(error?.advice == "chmod 700 \(path.directory)")
        }
    }

    @Test @LoopActor func `a link in the place of the directory is refused`() async throws {
        try await withDirectory { directory in
            let path = try path(in: directory)
            symlink("/tmp", path.directory)
            let error = #expect(throws: SocketError.self) {
                try Listener(path: path, delegate: Door())
            }
            #expect(error?.code == .unsafeDirectory)
            #expect(error?.description.contains("symbolic link") == true)
        }
    }

    @Test @LoopActor func `a server without descriptors turns clients away and goes on`()
        async throws
    {
        try await withDirectory { directory in
            let path = try path(in: directory)
            let door = Door()
            let listener = try Listener(path: path, delegate: door)
            let client = try connect(path: path)
            // Without a suspension in between, so that no other test of the loop meets the limit.
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var low = limit
            low.rlim_cur = rlim_t(client.number) + 8
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &low)
            var fillers: [Int32] = []
            while true {
                let filler = dup(client.number)
                guard filler >= 0 else { break }
                fillers.append(filler)
            }
            listener.ready(.read)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            for filler in fillers { close(filler) }
            #expect(door.refusals.map(\.errno) == [EMFILE])
            #expect(door.peers.isEmpty)
            var byte: UInt8 = 0
            #expect(read(client.number, &byte, 1) == 0)
            let second = try connect(path: path)
            try await door.gate.until { door.peers.count == 1 }
            _ = second.number
            listener.close()
            door.connections.forEach { $0.close() }
        }
    }

    @Test @LoopActor func `nobody at the path is told by name`() async throws {
        try await withDirectory { directory in
            let path = try path(in: directory, "nobody")
            let error = #expect(throws: SocketError.self) { _ = try connect(path: path) }
            #expect(error?.code == .notServed)
            #expect(error?.description.contains("'nobody'") == true)
        }
    }
}
