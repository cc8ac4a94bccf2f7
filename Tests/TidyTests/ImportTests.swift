import Testing

@Suite struct ImportTests {
    private let manifest = Manifest(
        text: """
            /// room("Fake", "Comment") is no target.
            func room(_ name: String) -> Target { .target(name: name, dependencies: imports) }
            func device(_ name: String) -> Target {
                .executableTarget(name: name, dependencies: ["Control"], path: "devices/\\(name)")
            }
            let package = Package(
                name: "House",
                products: [.executable(name: "lamp", targets: ["Lamp"])],
                targets: [
                    .target(name: "CLinux", cSettings: strictC),
                    .systemLibrary(
                        name: "CSQLite", pkgConfig: "sqlite3",
                        providers: [.apt(["libsqlite3-dev"])]),
                    room("Control"), room("Wire", "Control"), room("Driver", "Wire"),
                    room("Kernel", "Wire"),
                    room("DeviceKit", "Wire"), room("Contract"),
                    program("Host", "Driver"), program(
                        "Zoo", in: "Tests", "DeviceKit"),
                    device("Lamp", "CSQLite"), device("Bulb", "Lamp"),
                    tests("WireTests", "Wire"),
                    .executableTarget(
                        name: "Bench", dependencies: ["DeviceKit", "Wire"], path: "Tests/Bench",
                        exclude: ["Floor"], swiftSettings: strict),
                ])
            """)

    private func source(_ path: String, _ text: String) -> SwiftSource {
        SwiftSource(path: path, text: text)
    }

    @Test func `a manifest's calls become targets and its helpers do not`() {
        #expect(
            manifest.targets.map(\.path) == [
                "Sources/CLinux", "Sources/CSQLite", "Sources/Control", "Sources/Wire",
                "Sources/Driver", "Sources/Kernel", "Sources/DeviceKit", "Sources/Contract",
                "Sources/Host", "Tests/Zoo", "devices/Lamp", "devices/Bulb", "Tests/WireTests",
                "Tests/Bench",
            ])
        #expect(manifest["Wire"]?.dependencies == ["Control"])
        #expect(manifest["CSQLite"]?.dependencies == [])
        #expect(manifest["Zoo"]?.dependencies == ["DeviceKit"])
        #expect(manifest["Bench"]?.dependencies == ["DeviceKit", "Wire"])
        #expect(manifest["Lamp"]?.dependencies == ["Control", "DeviceKit", "Contract", "CSQLite"])
        #expect(manifest.closure(of: "Driver") == ["Driver", "Wire", "Control"])
    }

    @Test(arguments: [
        ("import Wire", ["Wire"]),
        ("@testable import Wire", ["Wire"]),
        ("@_exported public import Control", ["Control"]),
        ("internal import struct Control.Symbol", ["Control"]),
        ("import func Glibc.read", ["Glibc"]),
        ("#if canImport(Glibc)\nimport Glibc\n#endif", ["Glibc"]),
        ("// import Wire", []),
        ("let text = \"import Wire\"", []),
        ("let important = 1", []),
    ])
    func `an import is read in every form`(text: String, modules: [String]) {
        #expect(ImportRules.imports(in: source("Sources/A/B.swift", text)).map(\.module) == modules)
    }

    @Test func `an import of the transitive closure is found`() {
        let driver = source("Sources/Driver/A.swift", "import Glibc\nimport Wire\nimport Control")
        let found = ImportRules.unlisted(in: driver, manifest)
        #expect(found.map(\.line) == [3])
        #expect(found.first?.rule == "import not listed")
        let stray = source("Sources/Gone/A.swift", "")
        #expect(ImportRules.unlisted(in: stray, manifest).map(\.rule) == ["no target"])
    }

    @Test func `a system module in the hub and input in the wire are found`() {
        let kernel = source("Sources/Kernel/A.swift", "import Values\nimport Glibc")
        #expect(ImportRules.system(in: kernel).map(\.line) == [2])
        let wire = source(
            "Sources/Wire/A.swift",
            """
            import Glibc
            func read(at: Int) { cursor.read(4); memcpy(a, b, 4) }
            let count = read(0, buffer, 4)
            """)
        #expect(ImportRules.system(in: wire).map(\.line) == [3])
        let own = source("Sources/Wire/B.swift", "let count = read(at: 0)")
        #expect(ImportRules.system(in: own).isEmpty)
    }

    @Test func `a forbidden edge of a manifest is found`() {
        let advice = report(ImportRules.edges(of: manifest))
        #expect(advice.contains("edge of Kernel: it may not use 'Wire'"))
        #expect(advice.contains("edge of Bulb: 'Lamp' is a program"))
        #expect(advice.contains("edge of Bulb: it may not use 'Lamp'"))
        #expect(!advice.contains("edge of Zoo"))
        #expect(!advice.contains("edge of Lamp"))
        let met = Manifest(
            text: #"room("Driver"), room("DeviceKit"), room("A", "Driver", "DeviceKit")"#)
        #expect(report(ImportRules.edges(of: met)).contains("the two ends of the cable meet"))
        let deep = Manifest(text: #"room("Kernel"), room("Contract", "Kernel"), device("A")"#)
        #expect(report(ImportRules.edges(of: deep)).contains("never the room Kernel"))
    }

    @Test func `every import is listed in the manifest`() {
        let sources = Repository.sources
        #expect(sources.count >= 40)
        let found = sources.flatMap { ImportRules.unlisted(in: $0, Repository.manifest) }
        expectNone(found)
        let imports = sources.flatMap { ImportRules.imports(in: $0) }
        #expect(imports.count >= 5)
    }

    @Test func `the hub knows no system and the wire does no input or output`() {
        let found = Repository.sources.flatMap { ImportRules.system(in: $0) }
        expectNone(found)
        let rooms = Set(Repository.sources.map(\.module))
        #expect(rooms.isSuperset(of: ["Kernel", "Control", "Wire"]))
    }

    @Test func `nothing in the manifest points sideways or outward`() {
        let manifest = Repository.manifest
        let found = ImportRules.edges(of: manifest)
        expectNone(found)
        let names = Set(manifest.targets.map(\.name))
        for room in ImportRules.bounds.keys {
            #expect(names.contains(room), "the bound of \(room) holds nothing; remove it")
        }
        #expect(manifest.targets.filter { $0.kind == .device }.count >= 4)
    }
}
