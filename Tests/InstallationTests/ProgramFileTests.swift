import Glibc
import Testing

@testable import Installation

/// What is said of a file that is to be started.
@Suite struct ProgramFileTests {
    private func folder() throws -> String {
        let template = try #require(strdup("/tmp/installXXXXXX"))
        defer { free(template) }
        return String(cString: try #require(mkdtemp(template)))
    }

    private func make(_ bytes: [UInt8], mode: mode_t, at path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        fchmod(file, mode)
        close(file)
    }

    /// The header of a program of 64 bits without segments.
    private static func header(machine: UInt8) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        bytes.replaceSubrange(0..<6, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
        bytes[18] = machine
        return bytes
    }

    struct Case: Sendable {
        var name: String
        var bytes: [UInt8]
        var mode: mode_t = 0o755
        /// Nil: nothing is wrong.
        var says: String?
    }

    static let foreign: UInt8 = ProgramFile.ownMachine == 62 ? 183 : 62

    static let cases = [
        Case(name: "script", bytes: Array("#!/bin/sh\n".utf8)),
        Case(name: "script with a word", bytes: Array("#! /bin/sh -e\n".utf8)),
        Case(
            name: "script of nobody", bytes: Array("#!/no/where\n".utf8),
            says: "wants the interpreter /no/where"),
        Case(name: "script of nothing", bytes: Array("#!\n".utf8), says: "no program"),
        Case(name: "empty", bytes: [], says: "no program"),
        Case(name: "text", bytes: Array("hello".utf8), says: "no program"),
        Case(
            name: "not executable", bytes: Array("#!/bin/sh\n".utf8), mode: 0o644,
            says: "may not be executed"),
        Case(name: "cut header", bytes: Array(header(machine: 62).prefix(20)), says: "no program"),
        Case(name: "foreign", bytes: header(machine: foreign), says: "is for "),
        Case(
            name: "own", bytes: header(machine: UInt8(ProgramFile.ownMachine ?? 0)), says: nil),
    ]

    @Test(arguments: 0..<cases.count)
    func `what is wrong with a program is seen without starting it`(_ index: Int) throws {
        let item = Self.cases[index]
        let folder = try folder()
        let path = "\(folder)/program"
        defer {
            unlink(path)
            rmdir(folder)
        }
        make(item.bytes, mode: item.mode, at: path)
        let problem = ProgramFile(path).problem
        if let says = item.says {
            #expect(problem?.what.contains(says) == true, "\(item.name): \(problem?.what ?? "-")")
            #expect(problem?.what.contains(path) == true)
            #expect(problem?.advice.isEmpty == false)
        } else {
            #expect(problem == nil, "\(item.name): \(problem?.what ?? "")")
        }
    }

    @Test func `a missing file and a folder are said to be so`() {
        #expect(ProgramFile("/no/where").problem?.what == "/no/where: No such file or directory")
        #expect(ProgramFile("/tmp").problem?.what == "/tmp is no file")
    }

    @Test func `a real program has its loader and all of its libraries`() {
        let program = ProgramFile(InstanceFolders.program)
        #expect(program.problem == nil)
        #expect(LibraryCheck.missing(of: program) == [])
    }

    static let answers: [(text: String, names: [String])] = [
        ("", []), ("\tlibc.so.6 => /lib/libc.so.6 (0x1)\n", []),
        ("\tlibq.so => not found\n\tlibr.so => not found\n", ["libq.so", "libr.so"]),
        (
            "./m: error while loading shared libraries: libq.so: cannot open shared object file: "
                + "No such file or directory\n", ["libq.so"]
        ),
        (
            "\t/lib/ld.so (0x1)\n"
                + "Error loading shared library libq.so: No such file or directory (needed by m)\n"
                + "Error loading shared library libr.so: No such file or directory (needed by m)\n"
                + "Error relocating m: q: symbol not found\n", ["libq.so", "libr.so"]
        ),
    ]

    @Test(arguments: 0..<answers.count)
    func `what loaders say of missing libraries is understood`(_ index: Int) {
        #expect(LibraryCheck.missing(in: Self.answers[index].text) == Self.answers[index].names)
    }

    /// Loaders of which none may start the program, and how `missing` answers; those that do not
    /// end are waited for as long as the seconds say, all others as long as they take.
    static let loaders: [(script: String, missing: [String]?, seconds: UInt64)] = [
        // As that of musl: it knows the option, not the variable.
        (
            "[ \"$1\" = --list ] || echo started > $0.started\n"
                + "echo 'Error loading shared library libq.so: No such file' >&2; exit 127",
            ["libq.so"], 240
        ),
        ("[ \"$1\" = --list ] && exit 0; echo started > $0.started", [], 240),
        // It knows nothing of the kind.
        ("exit 1", nil, 240),
        // It says everything and does not end; it says nothing at all; and it says more and more.
        ("echo 'libq.so => not found'; exec >&- 2>&-; exec sleep 1000", ["libq.so"], 8),
        ("exec sleep 1000", nil, 2),
        ("while :; do echo; sleep 0.2; done", nil, 2),
    ]

    @Test(.timeLimit(.minutes(20)), arguments: 0..<loaders.count)
    func `a loader is asked for a time and starts nothing`(_ index: Int) throws {
        let item = Self.loaders[index]
        let folder = try folder()
        let loader = "\(folder)/loader"
        let path = "\(folder)/program"
        defer {
            for file in [loader, path, loader + ".started"] { unlink(file) }
            rmdir(folder)
        }
        make(Array("#!/bin/sh\nPATH=/usr/bin:/bin\n\(item.script)\n".utf8), mode: 0o755, at: loader)
        // One segment, which names the loader.
        var bytes = Self.header(machine: UInt8(ProgramFile.ownMachine ?? 0))
        (bytes[32], bytes[54], bytes[56]) = (64, 56, 1)
        var segment = [UInt8](repeating: 0, count: 56)
        (segment[0], segment[8], segment[32]) = (3, 120, UInt8(loader.utf8.count + 1))
        make(bytes + segment + Array(loader.utf8) + [0], mode: 0o755, at: path)
        let program = ProgramFile(path)
        #expect(program.problem == nil)
        let found = LibraryCheck.missing(of: program, patience: item.seconds * 1_000_000_000)
        #expect(found == item.missing)
        #expect(access(loader + ".started", F_OK) != 0)
    }

    @Test func `a library that is not there is named`() throws {
        let program = InstanceFolders.program
        var bytes = try #require(SystemFile.bytes(program, limit: 512 << 20))
        let old = Array("libc.so.6\0".utf8)
        let at = try #require(
            bytes.indices.first { index in
                bytes[index] == old[0] && bytes[index...].starts(with: old)
            })
        bytes.replaceSubrange(at..<at + 4, with: Array("libq".utf8))
        let folder = try folder()
        let path = "\(folder)/program"
        defer {
            unlink(path)
            rmdir(folder)
        }
        make(bytes, mode: 0o755, at: path)
        #expect(
            LibraryCheck.missing(of: ProgramFile(path), patience: .max / 2)?.contains("libq.so.6")
                == true)
    }
}
