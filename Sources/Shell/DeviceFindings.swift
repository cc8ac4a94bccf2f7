import DeviceKit
import Glibc
import Installation

/// The manifests, and the programs that they name.
struct DeviceFindings {
    private let search: Result<ManifestSearch, ManifestError>
    private let found: [Result<ManifestSearch.Found, ManifestError>]

    /// - Parameter given: the folder that the command line or the kernel names.
    init(given: String?) {
        do throws(ManifestError) {
            let search = try ManifestSearch(
                given: given, environment: InstanceFolders.variable("CONCENTRIC_DEVICES"),
                executable: InstanceFolders.program)
            self.search = .success(search)
            found = search.scan()
        } catch {
            search = .failure(error)
            found = []
        }
    }

    /// The manifests that can be read.
    var manifests: [ManifestSearch.Found] { found.compactMap { try? $0.get() } }

    func all() -> [Finding] {
        switch search {
        case .failure(let error):
            return [
                .fail(.devices, "\(error)", "say --devices DIR, or set CONCENTRIC_DEVICES")
            ]
        case .success(let search):
            guard !found.isEmpty else {
                return [
                    .fail(
                        .devices, "no folder in \(search.directory) holds a device.json",
                        "say --devices with the folder of devices")
                ]
            }
            return [.ok(.devices, "devices are in \(search.directory)")] + found.flatMap(Self.look)
        }
    }

    private static func look(
        _ result: Result<ManifestSearch.Found, ManifestError>
    ) -> [Finding] {
        switch result {
        case .failure(let error):
            return [.fail(.devices, "\(error.file): \(error.what)", "mend the manifest")]
        case .success(let found):
            return [.ok(.devices, "\(found.file) is valid"), program(of: found)]
        }
    }

    private static func program(of found: ManifestSearch.Found) -> Finding {
        let name = found.manifest.name
        let instances = found.manifest.instances
        let times = instances == 1 ? "" : "\(instances) processes of "
        let program = ProgramFile(found.executable)
        if let problem = program.problem {
            return .fail(.devices, "\(name): \(problem.what)", problem.advice)
        }
        guard let missing = LibraryCheck.missing(of: program) else {
            return .warn(
                .devices, "\(name): the loader of \(program.path) does not say its libraries",
                "run ldd \(program.path)")
        }
        return .check(
            missing.isEmpty, ok: .ok(.devices, "\(name): \(times)\(program.path)"),
            otherwise: .fail(
                .devices, "\(name): \(program.path) wants \(missing.joined(separator: ", "))",
                "install what is missing, or link it statically"))
    }
}

/// What manifests grant, compared with what they provide.
enum GrantFindings {
    static func all(_ manifests: [ManifestSearch.Found]) -> [Finding] {
        let devices = manifests.map(\.manifest).filter { $0.role == .device }
        var findings = provided(devices) + declared(devices) + channels(of: manifests)
        let symbols = devices.flatMap(\.provides)
        let regions = Set(devices.flatMap { $0.regions.map(\.name) })
        for manifest in manifests.map(\.manifest) {
            findings += calls(of: manifest, symbols) + memory(of: manifest, regions)
        }
        guard findings.isEmpty else { return findings }
        return [
            .ok(.grants, "every grant is met: \(symbols.count) symbols, \(regions.count) regions")
        ]
    }

    private static func provided(_ devices: [Manifest]) -> [Finding] {
        var owners: [String: [String]] = [:]
        for device in devices {
            for symbol in device.provides { owners[symbol, default: []].append(device.name) }
        }
        return owners.sorted { $0.key < $1.key }.compactMap { symbol, names in
            if symbol.hasPrefix("Kernel.") {
                return .fail(
                    .grants, "\(names[0]) provides \(symbol)",
                    "take it out: Kernel.* belongs to the kernel")
            }
            guard names.count > 1 else { return nil }
            return .fail(
                .grants, "\(names.joined(separator: " and ")) provide \(symbol)",
                "let one of them provide it")
        }
    }

    private static func declared(_ devices: [Manifest]) -> [Finding] {
        var seen: [String: (device: String, region: DeclaredRegion)] = [:]
        var findings: [Finding] = []
        for device in devices {
            for region in device.regions {
                guard let first = seen[region.name] else {
                    seen[region.name] = (device.name, region)
                    continue
                }
                guard first.region != region else { continue }
                findings.append(
                    .warn(
                        .grants,
                        "\(first.device) and \(device.name) declare \(region.name) with other "
                            + "\(first.region.initial == region.initial ? "histories" : "values"); "
                            + "that of \(first.device) counts",
                        "let one of them declare it"))
            }
        }
        return findings
    }

    private static func calls(of manifest: Manifest, _ symbols: [String]) -> [Finding] {
        manifest.calls.filter { grant in
            guard grant != "*", !grant.hasPrefix("Kernel.") else { return false }
            return !symbols.contains { symbol in
                grant.hasSuffix("*") ? symbol.hasPrefix(grant.dropLast()) : symbol == grant
            }
        }.map {
            .fail(
                .grants, "\(manifest.name) calls \($0), which no device provides",
                "mend `calls`, or add the device")
        }
    }

    private static func memory(of manifest: Manifest, _ regions: Set<String>) -> [Finding] {
        func isUnknown(_ name: String) -> Bool {
            !regions.contains(name) && !name.hasPrefix("Kernel.")
        }
        let writes = manifest.writes.filter { !regions.contains($0) }.map { name in
            Finding.fail(
                .grants, "\(manifest.name) writes \(name), which no manifest declares",
                "declare it under `regions`")
        }
        let reads = manifest.reads.filter { isUnknown($0) && !manifest.writes.contains($0) }
        return writes
            + reads.map {
                .warn(
                    .grants, "\(manifest.name) reads \($0), which no manifest declares",
                    "declare it under `regions`, or take it out")
            }
    }
}
