import DeviceKit
import Glibc
import Installation

/// `new device`: a package with a device that works, to go on from.
struct NewDevice {
    /// The name of the device, of its folder, its package and its program.
    let name: String
    /// The folder of the package that holds `DeviceKit`.
    let house: String
    /// The folder in which the new one is made.
    let parent: String

    /// Modules that the language has for itself.
    private static let reserved: Set<String> = ["main", "swift"]

    /// Makes the device that the command line names, and says what is next.
    static func run(_ arguments: Arguments) throws {
        let words = arguments.words
        guard words[0] == "device" else {
            throw UsageError(message: "a device is what it makes, not \(words[0])")
        }
        let made = try NewDevice(
            name: words[1], package: arguments.option("--package"),
            program: InstanceFolders.program)
        let files = try made.write()
        guard !arguments.isJSON else {
            let paths = Value.array(files.map { .text($0) })
            return Output.line(
                Value.map(["name": .text(made.name), "files": paths, "next": .text(made.next)])
                    .json())
        }
        for file in files { Output.line("made \(file)") }
        Output.line("next: \(made.next)")
    }

    /// - Parameters:
    ///   - package: the folder that the command line names.
    ///   - program: the program that runs, in whose ancestors the package is looked for else.
    /// - Throws: `UsageError` for a name that no device may have, and when there is no package.
    init(name: String, package: String?, program: String) throws {
        do throws(ManifestError) {
            _ = try Manifest(json: Value.map(["name": .text(name)]).json(), file: "NAME")
        } catch {
            throw UsageError(message: "\(error.what)")
        }
        guard let parent = Self.resolved(".") else {
            throw UsageError(message: "the working directory is gone; go to another one")
        }
        self.name = name
        self.parent = parent
        house = try Self.house(named: package, above: program)
        let taken = ["Sources", "devices"].flatMap { FolderEntries.names(in: "\(house)/\($0)") }
        guard !Self.reserved.contains(name.lowercased()),
            !taken.contains(where: { $0.lowercased() == name.lowercased() })
        else {
            throw UsageError(
                message: "a module is named \(name) already; choose another name")
        }
        // Such as `kernel_`, whose symbols would be the kernel's, and `_`, which leaves nothing.
        guard !words.isEmpty, words != "Kernel" else {
            throw UsageError(
                message: "no device may have \(words).hello, the symbol of \(name); "
                    + "choose another name")
        }
    }

    private static func house(named given: String?, above program: String) throws -> String {
        if let given {
            guard let path = resolved(given), isHouse(path) else {
                throw UsageError(
                    message: "\(given) is not the folder of the package of Concentric")
            }
            return path
        }
        var folder = ManifestSearch.parent(of: resolved(program) ?? program)
        while !isHouse(folder) {
            guard folder != "/", folder != "." else {
                throw UsageError(
                    message: "the package of Concentric is not above \(program); say "
                        + "--package DIR")
            }
            folder = ManifestSearch.parent(of: folder)
        }
        return folder
    }

    private static func isHouse(_ folder: String) -> Bool {
        access("\(folder)/Package.swift", R_OK) == 0
            && ManifestSearch.isDirectory("\(folder)/Sources/DeviceKit")
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    // MARK: - What it is made of

    /// `my-words` is `MyWords` in symbols.
    private var words: String {
        name.split { "-_".contains($0) }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The house from the new folder, so that both may be moved together; whole where they have
    /// nothing in common.
    static func way(from folder: String, to house: String) -> String {
        let from = folder.split(separator: "/")
        let to = house.split(separator: "/")
        let common = zip(from, to).prefix { $0 == $1 }.count
        guard common > 0 else { return house }
        let up = Array(repeating: "..", count: from.count - common)
        return (up + to.dropFirst(common).map(String.init)).joined(separator: "/")
    }

    /// What a person types next.
    var next: String {
        "cd \(name) && swift build && concentric up --name \(name) --detach --devices .. "
            + "&& concentric call --name \(name) \(words).hello '\"you\"'"
    }

    /// The text of each file, by its path in the new folder.
    var files: [(path: String, text: String)] {
        let package = Value.text(house.split(separator: "/").last.map(String.init) ?? "").json()
        let name = Value.text(name).json()
        let way = Self.way(from: "\(parent)/\(self.name)", to: house)
        let manifest = """
            {
              "name": \(name),
              "executable": ".build/debug/\(self.name)",
              "provides": ["\(words).hello"]
            }

            """
        let definition = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: \(name),
                dependencies: [.package(path: \(Value.text(way).json()))],
                targets: [
                    .executableTarget(
                        name: \(name),
                        dependencies: [.product(name: "DeviceKit", package: \(package))])
                ])

            """
        let main = """
            import DeviceKit

            /// What the device answers; its manifest, device.json, names it, too.
            let hello = Symbol<String, String>(
                "\(words).hello", .replayable.summary("Greets whoever is named."))

            Device.serve { device in
                device.bind(hello, pure: { name in "Hello, \\(name)." })
            }

            """
        return [
            ("Package.swift", definition), ("Sources/\(self.name)/main.swift", main),
            ("device.json", manifest), (".gitignore", ".build/\n"),
        ]
    }

    // MARK: - Writing

    /// Makes the folder with its files.
    /// - Returns: their paths from the working directory.
    /// - Throws: `OutputError`: the folder is there already, or cannot be written; what was made of
    ///   it is gone again.
    private func write() throws -> [String] {
        let root = "\(parent)/\(name)"
        guard mkdir(root, 0o777) == 0 else {
            throw OutputError(
                message: errno == EEXIST
                    ? "\(root) is there already; choose another name" : Self.reason(root))
        }
        var made = [root]
        do {
            for folder in ["\(root)/Sources", "\(root)/Sources/\(name)"] {
                guard mkdir(folder, 0o777) == 0 else {
                    throw OutputError(message: Self.reason(folder))
                }
                made.append(folder)
            }
            for (path, text) in files {
                made.append("\(root)/\(path)")
                try Self.write(text, to: "\(root)/\(path)")
            }
        } catch {
            for path in made.reversed() { remove(path) }
            throw error
        }
        return files.map { "\(name)/\($0.path)" }
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw OutputError(message: reason(path)) }
        let error = Output.put(text, on: descriptor)
        close(descriptor)
        guard error == 0 else {
            errno = error
            throw OutputError(message: reason(path))
        }
    }

    private static func reason(_ path: String) -> String {
        "\(path) cannot be made: \(String(cString: strerror(errno)))"
    }
}
