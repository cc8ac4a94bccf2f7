import Glibc

/// `proxy LISTEN TO`: passes bytes between the clients of one socket and another socket. A test
/// that ends it cuts the connections of clients whose kernel lives on.
enum Proxy {
    private struct Pair {
        var client: Int32
        var kernel: Int32
    }

    static func run(_ words: [String]) -> Never {
        signal(SIGPIPE, SIG_IGN)
        guard words.count == 2 else { exit(64) }
        unlink(words[0])
        let listener = make(words[0]) { bind($0, $1, $2) }
        guard listener >= 0, listen(listener, 16) == 0 else { exit(71) }
        print("passing")
        fflush(nil)
        var pairs: [Pair] = []
        while true {
            var polls = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            for pair in pairs {
                polls.append(pollfd(fd: pair.client, events: Int16(POLLIN), revents: 0))
                polls.append(pollfd(fd: pair.kernel, events: Int16(POLLIN), revents: 0))
            }
            guard poll(&polls, nfds_t(polls.count), -1) > 0 else { continue }
            var kept: [Pair] = []
            for (index, pair) in pairs.enumerated() {
                let lives =
                    (polls[1 + 2 * index].revents == 0 || pass(pair.client, pair.kernel))
                    && (polls[2 + 2 * index].revents == 0 || pass(pair.kernel, pair.client))
                if lives {
                    kept.append(pair)
                } else {
                    close(pair.client)
                    close(pair.kernel)
                }
            }
            pairs = kept
            guard polls[0].revents != 0 else { continue }
            let client = accept(listener, nil, nil)
            let kernel = make(words[1]) { connect($0, $1, $2) }
            if client >= 0, kernel >= 0 { pairs.append(Pair(client: client, kernel: kernel)) }
        }
    }

    private static func make(
        _ path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            for (index, byte) in path.utf8.prefix(bytes.count - 1).enumerated() {
                bytes[index] = byte
            }
        }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? descriptor : -1
    }

    /// - Returns: false when either end has ended.
    private static func pass(_ from: Int32, _ to: Int32) -> Bool {
        var block = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(from, &block, block.count)
        guard count > 0 else { return false }
        var done = 0
        while done < count {
            let written = block.withUnsafeBytes { write(to, $0.baseAddress! + done, count - done) }
            guard written > 0 else { return false }
            done += written
        }
        return true
    }
}
