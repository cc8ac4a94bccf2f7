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
        #expect(LibraryCheck.missing(of: ProgramFile(path))?.contains("libq.so.6") == true)
    }
}
