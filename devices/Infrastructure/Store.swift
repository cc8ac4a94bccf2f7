import Contract
import Control
import DeviceKit
import FoundationEssentials

/// The open store of this process, as its handlers use it.
@LoopActor
final class Store {
    let library: Library
    private let invocations: Invocations

    /// Opens the store under a folder.
    init(directory: String) throws {
        let database = try Database(directory: directory)
        library = Library(database)
        invocations = Invocations(database)
    }

    /// Reads; an error of the database crosses the boundary as `storage`.
    func read<T>(_ body: (Library) throws -> T) throws -> T {
        do {
            return try body(library)
        } catch let error as DatabaseError {
            throw error.application
        }
    }

    /// The slideshow of an id.
    /// - Throws: `notFound` when there is none.
    func slideshow(_ id: UUID) throws -> Slideshow {
        guard let slideshow = try read({ try $0.fetch(id) }) else {
            throw ApplicationError.missing(id)
        }
        return slideshow
    }

    /// Makes an effect once for the visit's key: a repeat gets what the first attempt returned.
    func write<T: Codable & Sendable>(
        _ kernel: any Handle, _ body: (Library) throws -> T
    ) throws -> T {
        do {
            let lowest = kernel.lowestLiveFlow
            try invocations.prune(
                below: InvocationKey.Flow(
                    epoch: Int64(clamping: lowest.epoch), number: Int64(clamping: lowest.counter)),
                at: kernel.now)
            let reply = try invocations.once(key: kernel.key, at: kernel.now) {
                let text = try ValueEncoder().encode(body(library)).json()
                return Array(text.utf8)
            }
            let stored = try Value.parse(json: String(decoding: reply, as: UTF8.self))
            return try ValueDecoder().decode(T.self, from: stored)
        } catch let error as DatabaseError {
            throw error.application
        }
    }
}

extension ApplicationError {
    static func missing(_ id: UUID) -> ApplicationError {
        ApplicationError(
            code: Code.notFound,
            message: "there is no slideshow \(id.uuidString.lowercased()) in the library")
    }
}
