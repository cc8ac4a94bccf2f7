import Contract
import Control
import FoundationEssentials
import Testing
import Values

/// The words of the application stand twice: as symbols here, as names in the manifests.
@Suite struct PortTests {
    /// The names of the ports, by the device that answers them. A symbol that is missing here is
    /// found by the manifest that provides it.
    static let ports: [String: [String]] = [
        "Compute": [
            ComputePort.createSlideshow.name, ComputePort.updateSlideshow.name,
            ComputePort.applyConfig.name, ComputePort.appendPhotos.name,
            ComputePort.selectPhotos.name,
        ],
        "Infrastructure": [
            InfrastructurePort.fetchSummaries.name, InfrastructurePort.fetchSlideshow.name,
            InfrastructurePort.fetchForUpdate.name, InfrastructurePort.fetchForConfig.name,
            InfrastructurePort.insertSlideshow.name, InfrastructurePort.saveSlideshow.name,
            InfrastructurePort.replaceSlideshow.name,
            InfrastructurePort.deleteSlideshow.name, InfrastructurePort.loadConfig.name,
            InfrastructurePort.saveConfig.name, InfrastructurePort.scanPhotos.name,
        ],
        "Circuit": [
            CircuitPort.fetchAll.name, CircuitPort.createSlideshow.name,
            CircuitPort.updateSlideshow.name, CircuitPort.updateConfig.name,
            CircuitPort.deleteSlideshow.name, CircuitPort.openSlideshow.name,
            CircuitPort.closeSlideshow.name, CircuitPort.addPhotos.name,
            CircuitPort.tellLeftOut.name, CircuitPort.saveConfig.name,
        ],
        "Terminal": [],
    ]

    static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    private func manifest(_ device: String) throws -> Value {
        let url = URL(filePath: "\(Self.root)/devices/\(device)/device.json")
        return try Value.parse(json: String(decoding: try Data(contentsOf: url), as: UTF8.self))
    }

    private func texts(_ value: Value?) -> [String] {
        (value?.array ?? []).compactMap(\.text)
    }

    @Test(arguments: ports.keys.sorted())
    func `a manifest provides exactly what the port of its device names`(_ device: String) throws {
        let provided = texts(try manifest(device)["provides"])
        let port = Self.ports[device] ?? []
        #expect(Set(provided).subtracting(port) == [], "name them in Sources/Contract/Words.swift")
        #expect(
            Set(port).subtracting(provided) == [], "name them in devices/\(device)/device.json")
        #expect(provided.count == port.count)
    }

    @Test func `every name is one device's own and begins with it`() {
        let all = Self.ports.values.flatMap { $0 }
        #expect(all.count == 26)
        #expect(Set(all).count == all.count)
        for (device, names) in Self.ports {
            #expect(names.allSatisfy { $0.hasPrefix("\(device).") })
        }
    }

    /// The words of the file itself, so that a symbol which the table above forgot is noticed.
    @Test func `the table of this test holds every symbol that the words declare`() throws {
        let url = URL(filePath: "\(Self.root)/Sources/Contract/Words.swift")
        let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        let declared = text.components(between: "\"").filter { word in
            ["Compute.", "Infrastructure.", "Circuit."].contains { word.hasPrefix($0) }
        }
        #expect(declared.count == 26)
        #expect(Set(declared) == Set(Self.ports.values.flatMap { $0 }))
    }

    @Test func `what a manifest calls is provided by somebody`() throws {
        let all = Self.ports.values.flatMap { $0 } + ["Kernel.shutdown"]
        for device in Self.ports.keys.sorted() {
            for grant in texts(try manifest(device)["calls"]) {
                let found = all.contains {
                    grant.hasSuffix("*") ? $0.hasPrefix(grant.dropLast()) : $0 == grant
                }
                #expect(found, "\(device) calls \(grant)")
            }
        }
    }

    @Test func `the regions that manifests declare are those of the contract`() throws {
        let declared = try Self.ports.keys.sorted().flatMap { device in
            (try manifest(device)["regions"]?.array ?? []).compactMap { $0["name"]?.text }
        }
        #expect(declared.sorted() == [LibraryState.region, SlideshowState.region].sorted())
        let circuit = try manifest("Circuit")["regions"]?.array ?? []
        for region in circuit {
            let initial = try #require(region["initial"])
            if region["name"]?.text == LibraryState.region {
                let state = try ValueDecoder().decode(LibraryState.self, from: initial)
                #expect(state.slideshows.isEmpty && !state.isLoading)
            } else {
                let state = try ValueDecoder().decode(SlideshowState.self, from: initial)
                #expect(state.slideshow == nil)
            }
        }
    }

    @Test func `no deadline is under three attempts`() {
        let traits = [
            CircuitPort.createSlideshow.traits, InfrastructurePort.scanPhotos.traits,
            InfrastructurePort.saveSlideshow.traits, ComputePort.createSlideshow.traits,
        ]
        #expect(traits.allSatisfy { $0.deadline / 3 >= $0.attempt })
    }
}

extension String {
    /// Every second part between two separators.
    func components(between separator: Character) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
