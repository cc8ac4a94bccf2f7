// What a file must be so that execve(2) can start it, as far as that can be seen without starting
// it. The layout of a program is that of the System V ABI, "Executable and Linkable Format".

internal import Glibc
internal import Values

/// A file that is to be started.
package struct ProgramFile: Sendable {
    /// What the beginning of the file says.
    package enum Kind: Equatable, Sendable {
        /// A program; its machine as ELF numbers it, and its loader unless it is static.
        case program(machine: UInt16, loader: String?)
        /// A text that another program interprets.
        case script(interpreter: String)
        case neither
    }

    package let path: String
    package let kind: Kind

    /// Reads the beginning of a file; one that cannot be read is `neither`.
    package init(_ path: String) {
        self.path = path
        kind = Self.kind(of: SystemFile.bytes(path, limit: 64 << 10) ?? [])
    }

    /// A number that is another one when one of the files is another or has been written anew, as a
    /// build does: the digest of what the system says of them.
    ///
    /// - Parameter words: a program and its arguments; what is no path of a file does not count.
    package static func identity(of words: [String]) -> UInt64 {
        var digest = Digest.start
        for word in words where word.utf8.contains(UInt8(ascii: "/")) {
            var status = stat()
            guard stat(word, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            let parts = [
                UInt64(status.st_dev), UInt64(status.st_ino),
                UInt64(bitPattern: Int64(status.st_size)),
                UInt64(bitPattern: Int64(status.st_mtim.tv_sec)),
                UInt64(bitPattern: Int64(status.st_mtim.tv_nsec)),
            ]
            digest = parts.withUnsafeBytes { Digest.of($0, after: digest) }
        }
        return digest
    }

    /// The machine that this process runs on, as ELF numbers it.
    package static let ownMachine: UInt16? = {
        guard case .program(let machine, _) = ProgramFile("/proc/self/exe").kind else {
            return nil
        }
        return machine
    }()

    /// Why it cannot be started, or nil: what is wrong, and what to do.
    package var problem: (what: String, advice: String)? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return (
                "\(path): \(String(cString: strerror(errno)))", "build it, or mend `executable`"
            )
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return ("\(path) is no file", "name a program in `executable`")
        }
        guard access(path, X_OK) == 0 else {
            return ("\(path) may not be executed", "chmod +x \(path)")
        }
        switch kind {
        case .neither:
            return ("\(path) is no program of this machine", "build it for this machine")
        case .script(let interpreter) where access(interpreter, X_OK) != 0:
            return ("\(path) wants the interpreter \(interpreter)", "install \(interpreter)")
        case .program(let machine, _) where Self.ownMachine.map({ $0 != machine }) ?? false:
            let own = Self.name(of: Self.ownMachine ?? 0)
            return (
                "\(path) is for \(Self.name(of: machine)), this machine is \(own)",
                "build it for \(own)"
            )
        case .program(_, let loader?) where access(loader, X_OK) != 0:
            return (
                "\(path) wants the loader \(loader)", "link it statically, or install \(loader)"
            )
        case .program, .script: return nil
        }
    }

    package static func name(of machine: UInt16) -> String {
        let names: [UInt16: String] = [
            3: "x86", 40: "ARM", 62: "x86-64", 183: "AArch64", 243: "RISC-V", 21: "POWER",
            22: "S390",
        ]
        return names[machine] ?? "machine \(machine)"
    }

    static func kind(of bytes: [UInt8]) -> Kind {
        if bytes.starts(with: Array("#!".utf8)) {
            let line = bytes.dropFirst(2).prefix { $0 != 0x0A }
            let words = line.split { $0 == 0x20 || $0 == 0x09 }
            guard let first = words.first else { return .neither }
            return .script(interpreter: String(decoding: first, as: UTF8.self))
        }
        // Magic number, 64 bits, the lowest byte first.
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]),
            let machine = number(bytes, 18, 2), let table = number(bytes, 32, 8),
            let size = number(bytes, 54, 2), let count = number(bytes, 56, 2)
        else { return .neither }
        return .program(
            machine: UInt16(machine), loader: loader(bytes, table, size, count))
    }

    /// The path in the segment of type PT_INTERP.
    private static func loader(
        _ bytes: [UInt8], _ table: UInt64, _ size: UInt64, _ count: UInt64
    ) -> String? {
        for index in 0..<count {
            let entry = table &+ index &* size
            guard number(bytes, entry, 4) == 3, let start = number(bytes, entry &+ 8, 8),
                let length = number(bytes, entry &+ 32, 8), start <= UInt64(bytes.count),
                length <= UInt64(bytes.count) - start
            else { continue }
            let path = bytes[Int(start)..<Int(start + length)].prefix { $0 != 0 }
            return String(decoding: path, as: UTF8.self)
        }
        return nil
    }

    private static func number(_ bytes: [UInt8], _ offset: UInt64, _ width: Int) -> UInt64? {
        guard offset <= UInt64(bytes.count), UInt64(bytes.count) - offset >= UInt64(width) else {
            return nil
        }
        let start = Int(offset)
        return bytes[start..<start + width].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
