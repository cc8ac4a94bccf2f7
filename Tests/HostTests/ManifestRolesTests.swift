import Installation
import Kernel
import Supervisor
import Testing

@testable import Host

/// What the hub and the supervisor are told of a manifest.
@Suite struct ManifestRolesTests {
    private let manifest = try? Manifest(
        json: """
            {"name": "d", "provides": ["D.x"], "calls": ["E.*"], "reads": ["R"], "writes": ["W"],
             "restart": "transient", "sandbox": "pure", "startSeconds": 20, "drainSeconds": 0.5,
             "limits": {"memory": 30000000, "cpuSeconds": 2, "descriptors": 30, "core": 0}}
            """, file: "d/device.json")

    @Test func `the hub is told what is granted`() throws {
        let declaration = try #require(manifest).declaration
        #expect(declaration.name == "d")
        #expect(declaration.provides == ["D.x"])
        #expect(declaration.calls == ["E.*"])
        #expect((declaration.reads, declaration.writes) == (["R"], ["W"]))
        #expect(declaration.pure)
    }

    @Test func `the supervisor is told times and limits`() throws {
        let manifest = try #require(manifest)
        let spec = manifest.spec(of: "d", executable: "/bin/d", environment: ["A=b"])
        #expect((spec.name, spec.executable, spec.environment) == ("d", "/bin/d", ["A=b"]))
        #expect(spec.restart == .transient)
        #expect((spec.startLimit, spec.drain, spec.term) == (20, 0.5, PolicyNumbers.term))
        #expect(spec.limits == DeviceSpec.Limits(nofile: 30, memory: 30_000_000, cpu: 2, core: 0))
        #expect(manifest.stopLimit == 0.5 + PolicyNumbers.term + PolicyNumbers.reap)
    }
}
