/// The targets of Package.swift, read from its text: `swift package describe` would wait for the
/// lock of the very build that runs the tests.
struct Manifest {
    enum Kind { case room, program, device, tests, system }

    struct Target: Equatable {
        let name: String
        let path: String
        let kind: Kind
        let dependencies: [String]
    }

    let targets: [Target]

    /// What the helper `device(…)` adds to the imports of every device.
    static let deviceImports = ["Control", "DeviceKit", "Contract"]

    init(targets: [Target]) { self.targets = targets }

    init(text: String) {
        let calls = ManifestCalls(text)
        targets = calls.all.compactMap { call in
            switch call.function {
            case "room", "target":
                Self.target(of: call, in: "Sources", .room, [])
            case "program":
                Self.target(of: call, in: call.text(of: "in") ?? "Sources", .program, [])
            case "executableTarget":
                Self.target(of: call, in: "Sources", .program, [])
            case "device":
                Self.target(of: call, in: "devices", .device, Self.deviceImports)
            case "tests", "testTarget":
                Self.target(of: call, in: "Tests", .tests, [])
            case "systemLibrary":
                Self.target(of: call, in: "Sources", .system, [])
            default:
                nil
            }
        }
    }

    /// Nil for the calls inside the helpers, whose names are no literals.
    private static func target(
        of call: ManifestCalls.Call, in folder: String, _ kind: Kind, _ imports: [String]
    ) -> Target? {
        guard let name = call.text(of: "name") ?? call.positional.first else { return nil }
        let listed = call.texts(of: "dependencies") ?? Array(call.positional.dropFirst())
        return Target(
            name: name, path: call.text(of: "path") ?? "\(folder)/\(name)", kind: kind,
            dependencies: imports + (kind == .system ? [] : listed))
    }

    subscript(name: String) -> Target? { targets.first { $0.name == name } }

    /// The target with this file.
    func target(of path: String) -> Target? {
        targets.first { path.hasPrefix($0.path + "/") }
    }

    /// All that a target reaches, itself included.
    func closure(of name: String) -> Set<String> {
        var reached: Set<String> = []
        var open = [name]
        while let next = open.popLast() {
            guard reached.insert(next).inserted else { continue }
            open += self[next]?.dependencies ?? []
        }
        return reached
    }
}
