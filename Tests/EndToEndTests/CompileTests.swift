import Glibc
import Testing

extension EndToEnd {
    /// What the compiler says to whoever uses the two public rooms.
    @Suite struct Compile {
        /// Words that the rows below use.
        private static let words = """
            import DeviceKit

            struct Note: Codable, Sendable, Identifiable { var id: Int; var text: String }
            struct Notes: Region { var rows = Table<Note>(); var count = 0 }
            final class Open { var count = 0 }
            let textOf = Symbol<Int, String>("T.textOf", .replayable)
            let isLong = Symbol<String, Bool>("T.isLong", .replayable)
            let said = Channel<String>("T.said")
            """

        /// One row a paragraph.
        private static let right = rows(
            #"""
            _ = pipeline(textOf).pipe(isLong).seal()

            _ = pipeline(Int.self).pipe(isLong) { number in "\(number)" }.seal()

            _ = pipeline(Int.self).pipe(to: String.self) { _, number in
                number > 0 ? .next("") : .fail(KernelError(.failed, ""))
            }.seal()

            _ = pipeline(textOf).tap(isLong).map { $0.count }.effect { _, _ in }
                .finally { _ in }.seal()

            _ = pipeline(Int.self)
                .fork(pipeline(textOf).seal(), pipeline(Int.self).map { $0 + 1 }.seal())
                .map { text, number in text.count + number }.seal()

            _ = pipeline(textOf).withRequest()
                .map { number, text in number + text.count }.seal()

            device.bind(textOf, to: pipeline(Int.self).map { "\($0)" }.seal())

            device.bind(textOf) { kernel, number in
                try await kernel.call(isLong, "\(number)") ? "long" : ""
            }

            device.bind(textOf) { kernel, number in
                try await kernel.publish(said, "x")
                return ""
            }

            device.bind(textOf) { kernel, number in
                try await kernel.buffer.mutate(Notes.self) { $0.count += number }
                return ""
            }
            """#)

        private static let wrong = rows(
            #"""
            // A stage takes what the one before gives.
            _ = pipeline(textOf).pipe(textOf).seal()

            _ = pipeline(Int.self).pipe(isLong) { number in number }.seal()

            _ = pipeline(textOf).tap(textOf).seal()

            _ = pipeline(Int.self).pipe(to: String.self) { _, number in .next(number) }.seal()

            _ = pipeline(textOf).map { text in text + 1 }.seal()

            // The branches of a fork take one value, and what follows takes what each gives.
            _ = pipeline(Int.self).fork(pipeline(textOf).seal(), pipeline(isLong).seal()).seal()

            _ = pipeline(Int.self).fork(pipeline(textOf).seal(), pipeline(textOf).seal())
                .map { a, b, c in 1 }.seal()

            _ = pipeline(textOf).withRequest().pipe(isLong).seal()

            // What is sealed goes no further, and only what is sealed is bound or forked.
            _ = pipeline(textOf).seal().pipe(isLong)

            device.bind(textOf, to: pipeline(textOf))

            _ = pipeline(Int.self).fork(pipeline(textOf)).seal()

            // A binding keeps the types of its symbol.
            device.bind(textOf, to: pipeline(isLong).seal())

            device.bind(textOf) { _, text in text }

            device.bind(textOf, pure: { (text: String) in text })

            device.bind(textOf) { kernel, number in
                try await kernel.call(isLong, number) ? "" : ""
            }

            device.bind(textOf) { kernel, number in
                try await kernel.publish(said, number)
                return ""
            }

            // What crosses a process is a value.
            _ = Symbol<Open, Int>("T.open", .replayable)

            _ = pipeline(Int.self).map { _ in Open() }.seal()

            _ = Channel<Open>("T.opened")

            device.bind(textOf) { kernel, number in
                try await kernel.buffer.mutate(Note.self) { _ in }
                return ""
            }
            """#)

        private static func rows(_ text: String) -> [String] {
            var rows: [String] = [""]
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.isEmpty { rows.append("") } else { rows[rows.count - 1] += "\(line)\n" }
            }
            return rows
        }

        /// Code blocks of a section of the README that are Swift.
        private static func blocks(of title: String) -> [String] {
            let text = Files.text("\(Programs.repository)/README.md")
            guard let start = text.firstRange(of: "\n## \(title)\n") else { return [] }
            var section = text[start.upperBound...]
            if let end = section.firstRange(of: "\n## ") { section = section[..<end.lowerBound] }
            var blocks: [String] = []
            while let begin = section.firstRange(of: "```swift\n") {
                section = section[begin.upperBound...]
                guard let end = section.firstRange(of: "```") else { break }
                blocks.append(String(section[..<end.lowerBound]))
                section = section[end.upperBound...]
            }
            return blocks
        }

        /// What the compiler says about files of one module.
        private func compile(_ files: [(name: String, text: String)]) throws -> Outcome {
            let folder = "/tmp/ce-compile-\(getpid())"
            mkdir(folder, 0o700)
            defer { Files.remove(folder) }
            for file in files { try Files.write(file.text, to: "\(folder)/\(file.name)") }
            let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
            let map = "\(Programs.folder)/CLinux.build/module.modulemap"
            return try Command(
                "/usr/bin/env",
                [
                    "swiftc", "-typecheck", "-wmo", "-swift-version", "6", "-module-cache-path",
                    "\(folder)/cache", "-I", "\(Programs.folder)/Modules", "-Xcc",
                    "-fmodule-map-file=\(map)",
                ] + files.map { "\(folder)/\($0.name)" },
                environment: ["PATH": path, "HOME": folder], folder: folder
            ).finish()
        }

        /// Each row in a function and a file of its own, beside the words.
        private static func files(_ rows: [String]) -> [(name: String, text: String)] {
            [("words.swift", words)]
                + rows.enumerated().map { index, row in
                    let head = "import DeviceKit\n@LoopActor func row\(index)(device: Bindings) {"
                    return ("row\(index).swift", "\(head)\n\(row)}\n")
                }
        }

        @Test func `what the types allow compiles`() throws {
            let outcome = try compile(Self.files(Self.right))
            #expect(outcome.succeeded, "\(outcome.err)")
        }

        @Test func `what must not compile does not, each for itself`() throws {
            let outcome = try compile(Self.files(Self.wrong))
            #expect(!outcome.succeeded && Self.wrong.count == 20)
            #expect(!outcome.err.contains("/words.swift:"), "\(outcome.err)")
            for (index, row) in Self.wrong.enumerated() {
                let isRefused = outcome.err.split(separator: "\n").contains {
                    $0.contains("/row\(index).swift:") && $0.contains(" error:")
                }
                #expect(isRefused, "\(row)")
            }
        }

        @Test func `the devices and the client of the README compile`() throws {
            let twenty = Self.blocks(of: "A device in twenty lines").filter {
                $0.contains("Device.serve")
            }
            #expect(twenty.count == 1)
            let device = try compile([("main.swift", twenty[0])])
            #expect(device.succeeded, "\(device.err)")
            let blocks = Self.blocks(of: "A pipe, a table and a client")
            try #require(blocks.count == 3)
            for program in blocks.dropFirst() {
                let outcome = try compile([
                    ("words.swift", blocks[0]), ("main.swift", "import DeviceKit\n\(program)"),
                ])
                #expect(outcome.succeeded, "\(outcome.err)")
            }
        }

        /// As a person makes one: the package is read by the package manager, the program by the
        /// compiler, the manifest by the shell, and a second try harms nothing.
        @Test func `a device that the shell makes is a whole one`() throws {
            let folder = "/tmp/ce-new-\(getpid())"
            mkdir(folder, 0o700)
            defer { Files.remove(folder) }
            func new(_ arguments: String...) throws -> Outcome {
                try Command(
                    "/usr/bin/env", ["-C", folder, Programs.shell, "new", "device"] + arguments,
                    environment: [:], folder: folder
                ).finish(within: 60)
            }
            let made = try new("my-words", "--json")
            #expect(made.succeeded && made.out.contains("concentric up --name my-words"))
            let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
            let package = try Command(
                "/usr/bin/env",
                [
                    "swift", "package", "--package-path", "\(folder)/my-words", "describe",
                    "--type", "json",
                ], environment: ["PATH": path, "HOME": folder], folder: folder
            ).finish(within: 300)
            #expect(package.succeeded && package.out.contains("my-words"), "\(package.err)")
            let main = Files.text("\(folder)/my-words/Sources/my-words/main.swift")
            let program = try compile([("main.swift", main)])
            #expect(main.contains("\"MyWords.hello\"") && program.succeeded, "\(program.err)")
            let looked = try Command(
                Programs.shell, ["doctor", "--devices", folder], environment: [:], folder: folder
            ).finish(within: 60)
            #expect(looked.out.contains("my-words/.build/debug/my-words"), "\(looked.out)")
            let again = try new("my-words")
            #expect(again.status == 74 && again.err.contains("is there already"))
            #expect(Files.text("\(folder)/my-words/Sources/my-words/main.swift") == main)
        }
    }
}
