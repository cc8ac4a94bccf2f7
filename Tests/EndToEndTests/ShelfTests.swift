import DeviceKit
import Testing

extension EndToEnd {
    /// The region with many rows that the README shows.
    @Suite struct Shelf {
        private static let zoo = [
            Animal(
                name: "zoo", answers: ["shelve", "lend", "lendOften", "discard"],
                more: [
                    "writes": ["Shelf"],
                    "regions": [["name": "Shelf", "initial": ["books": [:]]]],
                ])
        ]

        /// The members of a manifest, and what a call says.
        private static let mistakes: [([String: Value], String)] = [
            (["writes": ["Shelf"]], "unbound: no manifest declares the region Shelf"),
            (
                ["regions": [["name": "Shelf", "initial": ["books": [:]]]]],
                "denied: the manifest of zoo does not grant writing Shelf"
            ),
            (
                [
                    "writes": ["Shelf"],
                    "regions": [["name": "Shelf", "initial": ["boks": [:]]]],
                ], "malformed: the region Shelf: books: expected"
            ),
        ]

        @Test(arguments: mistakes)
        func `a region that cannot be had is named, and so is what to change`(
            _ more: [String: Value], _ said: String
        ) throws {
            let zoo = [Animal(name: "zoo", answers: ["shelve"], more: more)]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let outcome = try instance.run("call", "Zoo.shelve", "1")
                #expect(outcome.err.contains(said), "\(outcome)")
            }
        }

        @Test func `a commit of too many regions costs the call and not the device`() throws {
            let zoo = [Animal(name: "zoo", answers: ["sprawl"], more: Self.zoo[0].more)]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let outcome = try instance.run("call", "Zoo.sprawl", "1")
                #expect(
                    outcome.err.contains("tooLarge: a commit of 17 regions")
                        && outcome.err.contains("the limit is 16"), "\(outcome)")
                #expect(try instance.device("zoo").incarnation == 1)
            }
        }

        @Test func `a change of one book of ten thousand is told as that and nothing else`() throws
        {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                let watch = try Watch(instance, "Shelf")
                let reader = try instance.start(program: Programs.zoo, ["shelf"])
                try Wait.until("the reader is there") { reader.printed == "0 books\n" }
                #expect(try instance.run("call", "Zoo.shelve", "10000").out == "10000\n")
                try watch.wait(for: "all books") { $0["books"]?.map?.count == 10_000 }
                try Wait.until("the reader has all") {
                    reader.printed.hasSuffix("10000 books\n")
                }
                let before = watch.lines.count

                #expect(try instance.run("call", "Zoo.lend", "77").out == "1\n")
                try watch.wait(for: "a loan") { $0["books"]?["77"]?["loans"] == 1 }
                try Wait.until("the reader sees it") {
                    reader.printed.hasSuffix("\nvolume 77 was lent: 1\n10000 books\n")
                }
                #expect(try instance.run("kill", "zoo").succeeded)
                #expect(try instance.run("call", "Zoo.lend", "77").out == "2\n")
                #expect(try instance.run("call", "Zoo.discard", "3").out == "true\n")
                #expect(try instance.run("call", "Zoo.discard", "3").out == "false\n")
                let unknown = try instance.run("call", "Zoo.lend", "3")
                #expect(unknown.err.contains("there is no book 3"), "\(unknown)")
                try watch.wait(for: "a book less") { $0["books"]?.map?.count == 9_999 }
                try Wait.until("the reader sees that, too") {
                    reader.printed.hasSuffix("\nremoved volume 3\n9999 books\n")
                }
                let told = watch.lines[before...].map { $0["patch"] ?? .null }
                #expect(
                    told == [
                        [["op": "replace", "path": "/books/77/loans", "value": 1]],
                        [["op": "replace", "path": "/books/77/loans", "value": 2]],
                        [["op": "remove", "path": "/books/3"]],
                    ])
                let part = try instance.json("buffer", "Shelf#/books/77")
                #expect(part["value"] == [["id": 77, "title": "volume 77", "loans": 2]])
            }
        }

        @Test func `a repeat of many commits on many rows is told what differs between them`()
            throws
        {
            try Instance.with(zoo: Self.zoo, reference: false) { instance in
                #expect(try instance.run("call", "Zoo.shelve", "20000").out == "20000\n")
                try Files.write("", to: "\(instance.data)/zoo.fall")
                // Were each of the 300 recorded commits told with all books, its time would pass.
                let lent = try instance.run("call", "Zoo.lendOften", "600")
                #expect(lent.out == "\(600 * 601 / 2)\n", "\(lent)")
                #expect(try instance.device("zoo").restarts == 1)
                let part = try instance.json("buffer", "Shelf#/books/0/loans")
                #expect(part["value"] == [600])
            }
        }
    }
}
