// swift-tools-version: 6.2
//
// The rooms in which rules are switched off, and the checks that must notice: what Scripts/mutants
// builds, in a folder of its own.

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func room(_ name: String, in folder: String = "Sources", _ imports: Target.Dependency...)
    -> Target
{
    .target(
        name: name, dependencies: imports, path: "\(folder)/\(name)", swiftSettings: strict)
}

func tests(_ name: String, _ imports: Target.Dependency...) -> Target {
    .testTarget(name: name, dependencies: imports, path: "Tests/\(name)", swiftSettings: strict)
}

let package = Package(
    name: "Mutants",
    targets: [
        .target(name: "CLinux"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
        room("Control"),
        room("Values"),
        room("Wire", "Control", "Values"),
        room("UnixSocket", "CLinux"),
        room("Kernel", "Control", "Values"),
        room("DeviceKit", "CLinux", "Wire", "UnixSocket", "Control", "Values"),
        room("Installation", "CLinux", "Values"),
        room("Supervisor", "CLinux", "Installation", "UnixSocket", "Control"),
        room("Contract", "Control"),
        .executableTarget(
            name: "Infrastructure", dependencies: ["Control", "DeviceKit", "Contract", "CSQLite"],
            path: "devices/Infrastructure", exclude: ["device.json"], swiftSettings: strict),
        tests("KernelTests", "Kernel", "Control", "Values"),
        tests(
            "DeviceKitTests", "DeviceKit", "Kernel", "Wire", "UnixSocket", "Control", "Values"),
        tests("SupervisorTests", "Supervisor", "Installation", "UnixSocket", "CLinux", "Control"),
        tests("InfrastructureTests", "Infrastructure", "CSQLite", "Contract", "Control"),
        .executableTarget(
            name: "Sweep", dependencies: ["Kernel", "Supervisor", "Control", "Values"],
            path: "Tests/Simulation", exclude: ["SimulationTests.swift"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
