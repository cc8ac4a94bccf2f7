import DeviceKit
import Glibc
import Installation
import Testing

@testable import Shell

/// What the doctor says of manifests and locks.
@Suite struct FindingTests {
    struct Case: Sendable {
        var name: String
        var manifests: [String]
        /// Of each finding its level and a part of what it says.
        var findings: [String]
    }

    static let cases = [
        Case(
            name: "all is met",
            manifests: [
                #"{"name": "a", "provides": ["A.x"], "calls": ["B.*", "Kernel.shutdown"]}"#,
                #"{"name": "b", "provides": ["B.y"], "writes": ["R"], "reads": ["Kernel.Errors"],"#
                    + #" "regions": [{"name": "R", "initial": 1}]}"#,
                #"{"name": "t", "role": "presentation", "calls": ["A.x"], "reads": ["R"]}"#,
            ], findings: ["ok every grant is met: 2 symbols, 1 regions"]),
        Case(
            name: "a call of nobody", manifests: [#"{"name": "a", "calls": ["A.x"]}"#],
            findings: ["fail a calls A.x, which no device provides"]),
        Case(
            name: "a prefix of nobody",
            manifests: [#"{"name": "a", "provides": ["Ab.x"], "calls": ["A.*"]}"#],
            findings: ["fail a calls A.*, which no device provides"]),
        Case(
            name: "a presentation provides nothing",
            manifests: [
                #"{"name": "t", "role": "presentation", "provides": ["T.x"]}"#,
                #"{"name": "a", "calls": ["T.x"]}"#,
            ], findings: ["fail a calls T.x, which no device provides"]),
        Case(
            name: "two of one symbol",
            manifests: [
                #"{"name": "a", "provides": ["A.x"]}"#, #"{"name": "b", "provides": ["A.x"]}"#,
            ], findings: ["fail a and b provide A.x"]),
        Case(
            name: "the kernel's symbol",
            manifests: [#"{"name": "a", "provides": ["Kernel.x"]}"#],
            findings: ["fail a provides Kernel.x"]),
        Case(
            name: "regions of nobody",
            manifests: [#"{"name": "a", "writes": ["W"], "reads": ["R"]}"#],
            findings: [
                "fail a writes W, which no manifest declares",
                "warn a reads R, which no manifest declares",
            ]),
        Case(
            name: "one region, two values",
            manifests: [
                #"{"name": "a", "regions": [{"name": "R", "initial": 1}]}"#,
                #"{"name": "b", "regions": [{"name": "R", "initial": 2}]}"#,
                #"{"name": "c", "regions": [{"name": "R", "initial": 1}]}"#,
            ], findings: ["warn a and b declare R with other values; that of a counts"]),
    ]

    @Test(arguments: 0..<cases.count)
    func `grants are compared with what is provided`(_ index: Int) throws {
        let item = Self.cases[index]
        let manifests = try item.manifests.map { json in
            ManifestSearch.Found(
                manifest: try Manifest(json: json, file: "device.json"), file: "device.json",
                executable: "")
        }
        let findings = GrantFindings.all(manifests)
        #expect(findings.map { "\($0.level.rawValue) \($0.what)" } == item.findings)
        #expect(findings.allSatisfy { ($0.level == .ok) == $0.advice.isEmpty })
    }

    @Test func `the holder of a lock is found by file and file system`() {
        let table = """
            1: POSIX  ADVISORY  WRITE 10 fe:01:99 0 EOF
            2: FLOCK  ADVISORY  WRITE 11 fe:02:99 0 EOF
            3: FLOCK  ADVISORY  WRITE 12 fe:01:98 0 EOF
            4: FLOCK  ADVISORY  WRITE 13 fe:01:99 0 EOF
            4: -> FLOCK  ADVISORY  WRITE 14 fe:01:97 0 EOF
            nonsense
            """
        #expect(FileLocks.holder(inode: 99, device: 0xFE01, in: table) == 13)
        #expect(FileLocks.holder(inode: 98, device: 0xFE01, in: table) == 12)
        #expect(FileLocks.holder(inode: 97, device: 0xFE01, in: table) == nil)
        #expect(FileLocks.holder(inode: 99, device: 0xFE03, in: table) == nil)
        #expect(FileLocks.holder(inode: 99, device: 0, in: "") == nil)
    }

    @Test func `nobody is told to kill what refuses, nor a process that is not known`() {
        for code in KernelError.Code.kernel + [KernelError.Code(rawValue: "other")] {
            let error = KernelError(code, "because")
            for pid in [nil, Int32(4711)] {
                let findings = VersionFindings.all(.refused(pid, error))
                #expect(findings.last?.level == .fail)
                #expect(findings.last?.what.hasSuffix("does not tell: because") == true)
                #expect(findings.allSatisfy { !$0.advice.contains("kill") }, "\(findings)")
            }
        }
        #expect(VersionFindings.advice(on: KernelError(.overloaded, "")) == "wait, or end a client")
        let unknown = VersionFindings.all(.silent(nil))
        #expect(unknown.last?.level == .fail)
        #expect(unknown.allSatisfy { !$0.advice.contains("kill") }, "\(unknown)")
        let known = VersionFindings.all(.silent(4711))
        #expect(known.last?.advice.contains("kill -CONT 4711,") == true)
    }

    @Test func `a process is known with its ancestors`() {
        let chain = ProcessTable.ancestors(of: getpid())
        #expect(chain.first == getpid())
        #expect(chain.dropFirst().first == (getppid() > 1 ? getppid() : nil))
    }
}
