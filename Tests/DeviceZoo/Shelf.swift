import Control
import DeviceKit
import Glibc

// A region with many rows, as the README shows it.

struct Book: Codable, Sendable, Identifiable {
    var id: Int
    var title: String
    var loans = 0
}

struct Shelf: Region {
    var books = Table<Book>()
}

extension Zoo {
    /// Adds books until there are so many, in commits of as many as a page has.
    static let shelve = Symbol<Int, Int>(
        "Zoo.shelve", .replayable.limits(attempt: 30_000, deadline: 90_000))
    /// Lends a book; how often it has been lent.
    static let lend = Symbol<Int, Int>("Zoo.lend", .replayable)
    /// Lends the first book so often, one commit each; the sum of what the commits gave. In the
    /// middle its process ends if there is a file `NAME.fall` among the data.
    static let lendOften = Symbol<Int, Int>(
        "Zoo.lendOften", .replayable.limits(attempt: 30_000, deadline: 90_000))
    /// Reads and writes more regions than one commit can name.
    static let sprawl = Symbol<Int, Int>("Zoo.sprawl", .replayable)
    /// Takes a book out.
    static let discard = Symbol<Int, Bool>("Zoo.discard", .replayable)
}

/// The code behind the shelf, and a client that follows it.
@LoopActor
enum Shelves {
    nonisolated private static let page = 5_000

    static let all: [String: @LoopActor (Bindings) -> Void] = [
        Zoo.shelve.name: { device in
            device.bind(Zoo.shelve) { kernel, count in
                for first in stride(from: 0, to: count, by: page) {
                    try await kernel.buffer.mutate(Shelf.self) { shelf in
                        for id in first..<min(first + page, count) {
                            try shelf.books.set(Book(id: id, title: "volume \(id)"))
                        }
                    }
                }
                return count
            }
        },
        Zoo.lend.name: { device in
            device.bind(Zoo.lend) { kernel, id in
                let loans = try await kernel.buffer.mutate(Shelf.self) { shelf in
                    try shelf.books.update(id) { book in
                        book.loans += 1
                        return book.loans
                    }
                }
                guard let loans else { throw KernelError(.failed, "there is no book \(id)") }
                return loans
            }
        },
        Zoo.lendOften.name: { device in
            device.bind(Zoo.lendOften) { kernel, count in
                var sum = 0
                for number in 1...max(1, count) {
                    sum += try await kernel.buffer.mutate(Shelf.self) { shelf in
                        try shelf.books.update(0) { book in
                            book.loans += 1
                            return book.loans
                        } ?? 0
                    }
                    if number == count / 2, unlink(Place.file("fall")) == 0 {
                        kill(getpid(), SIGKILL)
                    }
                }
                return sum
            }
        },
        Zoo.sprawl.name: { device in
            device.bind(Zoo.sprawl) { kernel, id in
                let shelf = Shelf.self
                return try await kernel.buffer.mutate(
                    shelf, reading: shelf, shelf, shelf, shelf, shelf, shelf, shelf, shelf, shelf,
                    shelf, shelf, shelf, shelf, shelf, shelf, shelf
                ) { _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _ in id }
            }
        },
        Zoo.discard.name: { device in
            device.bind(Zoo.discard) { kernel, id in
                try await kernel.buffer.mutate(Shelf.self) { $0.books.remove(id) }
            }
        },
    ]

    /// `shelf`: prints a line for each change of a book and how many there are, until it is killed.
    nonisolated static func run() -> Never {
        Program.run {
            do {
                let kernel = try await Kernel.connect(
                    instance: Program.instance, client: "shelf")
                try await follow(kernel)
                return 0
            } catch {
                Behaviour.complain("\(error)")
                return 69
            }
        }
    }

    private static func follow(_ kernel: Kernel) async throws {
        var shown = Table<Book>()
        for try await books in kernel.buffer.changes(of: Shelf.self, \.books) {
            for change in try books.changes(since: shown) { show(change) }
            shown = books
            say("\(books.count) books")
        }
    }

    private static func show(_ change: RowChange<Book>) {
        switch change {
        case .added(let book): say("added \(book.title)")
        case .changed(_, let book): say("\(book.title) was lent: \(book.loans)")
        case .removed(let book): say("removed \(book.title)")
        }
    }

    private static func say(_ line: String) {
        print(line)
    }
}
