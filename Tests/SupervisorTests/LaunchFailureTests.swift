import CLinux
import Glibc
import Installation
import Testing

@testable import Supervisor

/// What is said of a file that could not be executed.
@Suite struct LaunchFailureTests {
    @Test func `a program of another machine is said to be one`() throws {
        let path = try makeFolder() + "/program"
        var bytes = [UInt8](repeating: 0, count: 64)
        bytes.replaceSubrange(0..<6, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
        let own = try #require(ProgramFile.ownMachine)
        let foreign: UInt8 = own == 62 ? 183 : 62
        bytes[18] = foreign
        let file = open(path, O_WRONLY | O_CREAT, 0o755)
        _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
        let spec = DeviceSpec(name: "device", executable: path)
        let failure = LaunchFailure(spec, step: Int32(clx_step_exec.rawValue), errno: ENOEXEC)
        #expect(failure.message.contains("cannot execute \(path): "))
        #expect(
            failure.message.hasSuffix(
                "(a program for \(ProgramFile.name(of: UInt16(foreign))), this machine is "
                    + "\(ProgramFile.name(of: own)))"))
        #expect(failure.name == "ENOEXEC")
    }
}
