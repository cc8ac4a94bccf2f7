import DeviceKit
import Glibc
import Installation

/// `doctor`: looks at everything that a kernel needs, whether or not one runs, and says of what is
/// not as it should be what to do. It changes nothing.
@LoopActor
enum Doctor {
    /// Milliseconds for a kernel to answer.
    private static let patience: UInt64 = 2_000

    /// - Returns: the exit code: 69 when something does not work.
    static func run(_ arguments: Arguments) async throws -> Int32 {
        let answer = await RunningKernel.ask(arguments.name, client: "doctor", patience: patience)
        var host = Value.null
        var data = arguments.option("--data")
        switch answer {
        case .running(let kernel):
            host = kernel.host
            data = data ?? host["data"]?.text
        case .silent(let pid), .refused(let pid, _):
            data = data ?? pid.flatMap(ProcessTable.data)
        case .absent: break
        }
        let folders = InstanceFolders(name: arguments.name, given: data)
        let devices = DeviceFindings(
            given: arguments.option("--devices") ?? host["devices"]?.text)
        let started = devices.manifests.map(\.manifest).filter { $0.role == .device }
        var findings = EnvironmentFindings.all()
        findings += SystemFindings.all(name: arguments.name, devices: started)
        findings += PathFindings.all(
            name: arguments.name, folders: folders, devices: started.flatMap(\.seats))
        findings += devices.all()
        findings += GrantFindings.all(devices.manifests)
        findings += VersionFindings.all(answer)
        findings += LeftoverFindings.all(
            name: arguments.name, folders: folders, kernel: answer)
        report(findings, asJSON: arguments.isJSON)
        return findings.contains { $0.level == .fail } ? 69 : 0
    }

    private static func report(_ findings: [Finding], asJSON: Bool) {
        if asJSON { return Output.line(Value.array(findings.map(\.value)).json()) }
        for finding in findings { Output.line(finding.line) }
        let fails = findings.count { $0.level == .fail }
        let warns = findings.count { $0.level == .warn }
        Output.line("\(findings.count) checked, \(warns) to look at, \(fails) that do not work")
    }
}
