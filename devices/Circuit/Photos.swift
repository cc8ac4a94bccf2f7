import Contract
import Control
import FoundationEssentials

/// What the pipes ask about photos.
enum Photos {
    /// Every image file under some paths, a page at a time. What cannot be named does not hold up
    /// the others: a command of its own fails with it.
    static func gather(_ kernel: any Handle, _ paths: [String]) async throws -> [String] {
        guard !paths.isEmpty else { return [] }
        var found: [String] = []
        var leftOut: LeftOut?
        var request = ScanPhotos(paths: paths)
        repeat {
            let page = try await kernel.call(InfrastructurePort.scanPhotos, request)
            found += page.photos
            if let more = page.leftOut {
                leftOut = LeftOut(
                    count: (leftOut?.count ?? 0) + more.count, first: leftOut?.first ?? more.first)
            }
            request.cursor = page.cursor
        } while request.cursor != nil
        if let leftOut { try await kernel.dispatch(CircuitPort.tellLeftOut, leftOut) }
        return found
    }

    /// The slideshow of an id, if there is one.
    static func stored(_ kernel: any Handle, _ id: UUID) async throws -> Slideshow? {
        do {
            return try await kernel.call(InfrastructurePort.fetchSlideshow, SlideshowID(id: id))
        } catch let error as KernelError
            where error.code.rawValue == ApplicationError.Code.notFound
        {
            return nil
        }
    }

    static func missing(_ id: UUID) -> ApplicationError {
        ApplicationError(
            code: ApplicationError.Code.notFound,
            message: "the slideshow \(id.uuidString.lowercased()) was removed meanwhile")
    }

    static func none(in paths: [String]) -> ApplicationError {
        let formats = PhotoFormat.allCases.map(\.rawValue).joined(separator: " ")
        return ApplicationError(
            code: ApplicationError.Code.noPhotos,
            message: "no image file (\(formats)) is in \(paths.joined(separator: ", "))")
    }
}
