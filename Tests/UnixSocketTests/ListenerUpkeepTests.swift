import Glibc
import Testing

@testable import UnixSocket

/// A listener whose files are taken away, and what stands there instead.
@Suite(.onLoop)
struct ListenerUpkeepTests {
    /// What happens to the files of a server, by the path of its directory.
    static let removals: [(what: String, loses: Bool, act: @Sendable (SocketPath) -> Void)] = [
        ("the socket is removed", true, { unlink($0.socket) }),
        ("the socket is moved away", true, { rename($0.socket, $0.socket + "-away") }),
        ("the lock is removed", false, { unlink($0.lock) }),
        ("the lock is moved away", false, { rename($0.lock, $0.lock + "-away") }),
        (
            "both are removed", true,
            {
                unlink($0.lock)
                unlink($0.socket)
            }
        ),
        (
            "the directory is removed", true,
            {
                unlink($0.socket)
                unlink($0.lock)
                rmdir($0.directory)
            }
        ),
        ("the directory is moved away", true, { rename($0.directory, $0.directory + "-away") }),
        (
            "the directory above is moved away and another made", true,
            {
                let above = String($0.directory.dropLast("/concentric".count))
                rename(above, above + "-away")
                mkdir(above, 0o700)
            }
        ),
    ]

    @Test(arguments: 0..<removals.count)
    @LoopActor func `a server puts back what is taken from it`(_ index: Int) async throws {
        let removal = Self.removals[index]
        try await withDirectory { directory in
            mkdir("\(directory)/run", 0o700)
            let path = try SocketPath(name: "test", runtimeDirectory: "\(directory)/run")
            let door = Door()
            let listener = try Listener(path: path, delegate: door)
            // Once more, for what was put back is watched as well.
            for round in 1...2 {
                let client = try connect(path: path)
                removal.act(path)
                if removal.loses {
                    try await door.gate.until { door.returns == round }
                } else {
                    try await wait { FilePlace(path.lock) != nil }
                }
                // Who had connected before is heard, although nobody had accepted it yet.
                try await door.gate.until { door.peers.count == 3 * round - 2 }
                let second = try connect(path: path)
                try await door.gate.until { door.peers.count == 3 * round - 1 }
                _ = (client.number, second.number)
                let error = #expect(throws: SocketError.self) {
                    try Listener(path: path, delegate: Door())
                }
                #expect(error?.pid == getpid(), "\(removal.what)")
                // It has asked who answers.
                try await door.gate.until { door.peers.count == 3 * round }
                var status = stat()
                #expect(lstat(path.socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
                #expect(lstat(path.directory, &status) == 0 && status.st_mode & 0o777 == 0o700)
                for leftover in [path.lock, path.socket, path.directory] {
                    Glibc.remove(leftover + "-away")
                }
                if removal.what.hasPrefix("the directory") { removeMoved(directory, path) }
            }
            #expect(door.losses == [], "\(removal.what)")
            listener.close()
            #expect(FilePlace(path.socket) == nil)
            door.connections.forEach { $0.close() }
        }
    }

    @Test @LoopActor func `what stands in the place is named once, left alone and outlived`()
        async throws
    {
        try await withDirectory { directory in
            let path = try SocketPath(name: "test", runtimeDirectory: directory)
            let door = Door()
            let listener = try Listener(path: path, delegate: door)
            let file = "\(directory)/file"
            close(open(file, O_CREAT | O_WRONLY, 0o600))
            rename(file, path.socket)
            try await door.gate.until { door.losses.count == 1 }
            #expect(door.losses[0].code == .inTheWay)
            #expect(door.losses[0].description.contains("a regular file"))
            // Other changes of the folder do not make it say so again.
            for number in 0..<5 {
                mkdir("\(path.directory)/\(number)", 0o700)
                try await EventLoop.shared.sleep(until: Clock.monotonic + 5_000_000)
            }
            #expect(door.losses.count == 1)
            unlink(path.socket)
            try await door.gate.until { door.returns == 1 }
            _ = try connect(path: path)
            try await door.gate.until { door.peers.count == 1 }
            listener.close()
            door.connections.forEach { $0.close() }
        }
    }

    @Test @LoopActor func `another server that took the place keeps it until it ends`()
        async throws
    {
        try await withDirectory { directory in
            let path = try SocketPath(name: "test", runtimeDirectory: directory)
            let door = Door()
            let first = try Listener(path: path, delegate: door)
            // Both files go before the first can look, and the second is there.
            unlink(path.lock)
            unlink(path.socket)
            let other = Door()
            let second = try Listener(path: path, delegate: other)
            try await door.gate.until { door.losses.count == 1 }
            #expect(door.losses[0].code == .inUse)
            #expect(door.returns == 0)
            // The first has asked it who it is.
            try await other.gate.until { !other.peers.isEmpty }
            #expect(first.descriptor < 0, "two serve the name")
            second.close()
            try await door.gate.until { door.returns == 1 }
            _ = try connect(path: path)
            try await door.gate.until { door.peers.count == 1 }
            first.close()
            for connection in door.connections + other.connections { connection.close() }
        }
    }

    @Test @LoopActor func `a server whose folder cannot be made returns with the one above`()
        async throws
    {
        try await withDirectory { directory in
            let above = "\(directory)/a/run"
            mkdir("\(directory)/a", 0o700)
            mkdir(above, 0o700)
            let path = try SocketPath(name: "test", runtimeDirectory: above)
            let door = Door()
            let listener = try Listener(path: path, delegate: door)
            rename("\(directory)/a", "\(directory)/b")
            try await door.gate.until { door.losses.count == 1 }
            #expect(door.losses[0].errno == ENOENT)
            mkdir("\(directory)/a", 0o700)
            mkdir(above, 0o700)
            try await door.gate.until { door.returns == 1 }
            _ = try connect(path: path)
            try await door.gate.until { door.peers.count == 1 }
            listener.close()
            door.connections.forEach { $0.close() }
        }
    }

    @Test @LoopActor func `a folder in its place that is open to others is used once it is closed`()
        async throws
    {
        try await withDirectory { directory in
            let path = try SocketPath(name: "test", runtimeDirectory: directory)
            let door = Door()
            let listener = try Listener(path: path, delegate: door)
            rename(path.directory, path.directory + "-away")
            mkdir(path.directory, 0o700)
            chmod(path.directory, 0o755)
            try await door.gate.until { door.losses.count == 1 }
            #expect(door.losses[0].code == .unsafeDirectory)
            #expect(FilePlace(path.lock) == nil && FilePlace(path.socket) == nil)
            chmod(path.directory, 0o700)
            try await door.gate.until { door.returns == 1 }
            _ = try connect(path: path)
            try await door.gate.until { door.peers.count == 1 }
            listener.close()
            door.connections.forEach { $0.close() }
        }
    }

    @Test @LoopActor func `a quiet folder wakes nobody`() async throws {
        try await withDirectory { directory in
            let path = try SocketPath(name: "test", runtimeDirectory: directory)
            let listener = try Listener(path: path, delegate: Door())
            unlink(path.socket)
            try await wait { FilePlace(path.socket) != nil }
            try await EventLoop.shared.sleep(until: Clock.monotonic + 50_000_000)
            #expect(listener.upkeep.isQuiet)
            listener.close()
        }
    }

    /// For what nobody tells.
    @LoopActor private func wait(_ condition: () -> Bool) async throws {
        let deadline = Clock.monotonic + Gate.patience
        while Clock.monotonic < deadline {
            if condition() { return }
            try await EventLoop.shared.sleep(until: Clock.monotonic + 5_000_000)
        }
        throw TimedOut()
    }

    private func removeMoved(_ directory: String, _ path: SocketPath) {
        for folder in ["\(directory)/run-away/concentric", "\(path.directory)-away"] {
            for name in ["test.sock", "test.lock"] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        rmdir("\(directory)/run-away")
    }
}
