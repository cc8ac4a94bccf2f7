/// Who may name whom. The manifest says what a target uses; the build flag lets modules of the
/// transitive closure through, so each import is compared with the manifest here.
enum ImportRules {
    /// What a room may use of ours at most, from the table of the house. A room that is not named
    /// is bound by the other rules alone.
    static let bounds: [String: Set<String>] = [
        "Control": [],
        "Values": [],
        "UnixSocket": ["CLinux"],
        "Wire": ["Control", "Values"],
        "Kernel": ["Control", "Values"],
        "Contract": ["Control"],
        "Presentation": ["Control", "Contract"],
        "Installation": ["CLinux", "Values"],
        "Shell": ["DeviceKit", "Control", "Installation"],
    ]

    /// System modules that know bytes, sockets, clocks or processes.
    static let systemModules: Set<String> = [
        "Glibc", "Musl", "Darwin", "CLinux", "Foundation", "Dispatch",
    ]

    /// Free functions of the C library that do I/O, wait or tell the time.
    static let systemCalls: Set<String> = [
        "read", "write", "open", "close", "socket", "connect", "accept", "send", "recv", "sendmsg",
        "recvmsg", "poll", "fopen", "fread", "fwrite", "clock_gettime", "gettimeofday", "time",
        "sleep", "usleep", "nanosleep", "fork", "kill", "getenv",
    ]

    struct Import: Equatable {
        let module: String
        let line: Int
    }

    static func imports(in source: SwiftSource) -> [Import] {
        let kinds: Set<String> = [
            "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
        ]
        return source.positions(of: ["import"]).compactMap { position in
            var next = position + 1
            if kinds.contains(source.text(at: next) ?? "") { next += 1 }
            guard let module = source.text(at: next) else { return nil }
            return Import(module: module, line: source.tokens[position].line)
        }
    }

    /// Every import of ours must be listed for the target in the manifest.
    static func unlisted(in source: SwiftSource, _ manifest: Manifest) -> [Violation] {
        guard let target = manifest.target(of: source.path) else {
            return [
                Violation(
                    path: source.path, line: 0, rule: "no target",
                    advice: "move the file into the folder of a target of Package.swift")
            ]
        }
        let ours = Set(manifest.targets.map(\.name))
        return imports(in: source)
            .filter { ours.contains($0.module) && !target.dependencies.contains($0.module) }
            .map {
                Violation(
                    path: source.path, line: $0.line, rule: "import not listed",
                    advice: "'\(target.name)' does not list '\($0.module)' in Package.swift; "
                        + "use it through a room that may, or list it if the house allows it")
            }
    }

    /// Kernel and Control stay free of the system; Wire may borrow memory functions, no I/O.
    static func system(in source: SwiftSource) -> [Violation] {
        let imports = imports(in: source).filter { systemModules.contains($0.module) }
        if ["Kernel", "Control"].contains(source.module), source.path.hasPrefix("Sources/") {
            return imports.map {
                Violation(
                    path: source.path, line: $0.line, rule: "system in \(source.module)",
                    advice: "'\($0.module)' knows bytes, sockets, clocks or processes; give it as "
                        + "an event or a value from the host")
            }
        }
        guard source.path.hasPrefix("Sources/Wire/"), !imports.isEmpty else { return [] }
        return source.tokens.indices.filter { position in
            systemCalls.contains(source.tokens[position].text)
                && source.text(at: position + 1) == "("
                && ![".", "func"].contains(source.text(at: position - 1) ?? "")
        }.map {
            Violation(
                path: source.path, line: source.tokens[$0].line, rule: "I/O in Wire",
                advice: "'\(source.tokens[$0].text)' belongs to UnixSocket; Wire turns words into "
                    + "bytes and back")
        }
    }

    /// What the manifest itself may not say.
    static func edges(of manifest: Manifest) -> [Violation] {
        manifest.targets.filter { $0.kind != .tests && !$0.path.hasPrefix("Tests/") }
            .flatMap { target in
                beyondBounds(target, manifest) + ontoPrograms(target, manifest)
                    + meetings(target, manifest)
            }
    }

    private static func edge(_ target: Manifest.Target, _ advice: String) -> Violation {
        Violation(path: "Package.swift", line: 0, rule: "edge of \(target.name)", advice: advice)
    }

    private static func beyondBounds(
        _ target: Manifest.Target, _ manifest: Manifest
    ) -> [Violation] {
        var bound = bounds[target.name]
        if target.kind == .device {
            // A library of the system is a device's own affair.
            let system = manifest.targets.filter { $0.kind == .system }.map(\.name)
            let more = target.name == "Terminal" ? ["Presentation"] : []
            bound = Set(Manifest.deviceImports + system + more)
        }
        guard let bound else { return [] }
        return target.dependencies.filter { !bound.contains($0) }.map {
            edge(target, "it may not use '\($0)'; see the table of the house")
        }
    }

    private static func ontoPrograms(
        _ target: Manifest.Target, _ manifest: Manifest
    ) -> [Violation] {
        target.dependencies.filter { [.device, .program].contains(manifest[$0]?.kind) }.map {
            edge(
                target, "'\($0)' is a program; only tests may import it, all else calls its symbols"
            )
        }
    }

    private static func meetings(_ target: Manifest.Target, _ manifest: Manifest) -> [Violation] {
        let closure = manifest.closure(of: target.name)
        var met: [Violation] = []
        if closure.isSuperset(of: ["Driver", "DeviceKit"]) {
            met.append(
                edge(target, "the two ends of the cable meet in it: drop Driver or DeviceKit"))
        }
        if target.kind == .device, closure.contains("Kernel") {
            met.append(edge(target, "a device knows symbols, never the room Kernel"))
        }
        return met
    }
}
