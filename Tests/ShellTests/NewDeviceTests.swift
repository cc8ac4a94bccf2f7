import Testing

@testable import Shell

/// The package that `new device` makes.
@Suite struct NewDeviceTests {
    @Test(arguments: [
        "", "a b", "a/b", "..", "-words", "kernel", "main", "Swift", "compute", "DeviceKit",
        "kernel_", "kernel-", "_", "_-",
        String(repeating: "a", count: 65),
    ])
    func `a name that no device or no module may have is refused`(_ name: String) {
        #expect(throws: UsageError.self) {
            try NewDevice(name: name, package: nil, program: #filePath)
        }
    }

    @Test func `a package that is none is named`() {
        #expect {
            try NewDevice(name: "words", package: "/proc", program: #filePath)
        } throws: {
            ($0 as? UsageError)?.message.hasPrefix("/proc is not the folder") == true
        }
        #expect {
            try NewDevice(name: "words", package: nil, program: "/proc/self/exe/none")
        } throws: {
            ($0 as? UsageError)?.message.hasSuffix("say --package DIR") == true
        }
    }

    @Test(arguments: [
        ("words", "Words.hello"), ("my-words", "MyWords.hello"), ("a_b-c", "ABC.hello"),
        ("x2", "X2.hello"),
    ])
    func `its symbol is named after it in program and manifest`(
        _ name: String, _ symbol: String
    ) throws {
        let made = try NewDevice(
            name: name, package: nil, program: #filePath)
        let files = Dictionary(uniqueKeysWithValues: made.files.map { ($0.path, $0.text) })
        #expect(files.count == 4)
        #expect(files["Sources/\(name)/main.swift"]?.contains("\"\(symbol)\"") == true)
        #expect(files["device.json"]?.contains("\"provides\": [\"\(symbol)\"]") == true)
        #expect(files["Package.swift"]?.contains("name: \"\(name)\"") == true)
        #expect(made.next.contains(symbol))
    }

    @Test(arguments: [
        ("/p/a/work", "/p/a/concentric", "../../concentric"),
        ("/p/a", "/p/a/concentric", "../concentric"),
        ("/p/a/concentric", "/p/a/concentric", ".."),
        ("/srv", "/p/a/concentric", "/p/a/concentric"),
    ])
    func `the package is found from the new folder`(
        _ parent: String, _ house: String, _ way: String
    ) {
        #expect(NewDevice.way(from: "\(parent)/words", to: house) == way)
    }
}
