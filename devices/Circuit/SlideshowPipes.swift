import Contract
import Control
import FoundationEssentials

/// The commands of one slideshow.
enum SlideshowPipes {
    /// Makes a slideshow of files and folders. The same id again changes nothing.
    static let create = pipeline(CreateSlideshow.self)
        .pipe(to: SelectPhotos.self) { kernel, request in
            if let stored = try await Photos.stored(kernel, request.id) {
                try await show(kernel, new: stored.summary)
                return .abort(stored.summary)
            }
            let found = try await Photos.gather(kernel, request.photos)
            return .next(SelectPhotos(present: [], candidates: found))
        }
        .pipe(ComputePort.selectPhotos)
        .withRequest()
        .pipe(to: NewSlideshow.self) { kernel, pair in
            let (request, photos) = pair
            guard request.photos.isEmpty || !photos.isEmpty else {
                return .fail(Photos.none(in: request.photos))
            }
            let usual = try await kernel.call(InfrastructurePort.loadConfig, ())
            let config = Config(
                duration: request.duration ?? usual.duration,
                transition: request.transition ?? usual.transition,
                loop: request.loop ?? usual.loop)
            return .next(
                NewSlideshow(
                    id: request.id, name: request.name, photos: photos, config: config,
                    createdAt: Date(timeIntervalSince1970: Double(kernel.now) / 1_000)))
        }
        .pipe(ComputePort.createSlideshow)
        .pipe(InfrastructurePort.insertSlideshow)
        .map(\.summary)
        .effect { kernel, summary in try await show(kernel, new: summary) }
        .seal()

    /// Renames, reorders, removes and titles.
    static let update = pipeline(InfrastructurePort.fetchForUpdate)
        .pipe(ComputePort.updateSlideshow)
        .pipe(InfrastructurePort.replaceSlideshow)
        .withRequest()
        .pipe(to: SlideshowSummary.self, diverts: [CircuitPort.updateSlideshow.name]) {
            kernel, pair in
            let (request, replacement) = pair
            return try await show(kernel, replacement)
                ?? .divert(to: CircuitPort.updateSlideshow, request)
        }
        .seal()

    /// Changes how a slideshow is shown.
    static let updateConfig = pipeline(InfrastructurePort.fetchForConfig)
        .pipe(ComputePort.applyConfig)
        .pipe(InfrastructurePort.replaceSlideshow)
        .withRequest()
        .pipe(to: SlideshowSummary.self, diverts: [CircuitPort.updateConfig.name]) {
            kernel, pair in
            let (request, replacement) = pair
            return try await show(kernel, replacement)
                ?? .divert(to: CircuitPort.updateConfig, request)
        }
        .seal()

    /// Removes a slideshow.
    static let delete = pipeline(SlideshowID.self)
        .tap(InfrastructurePort.deleteSlideshow)
        .effect { kernel, removed in
            try await kernel.buffer.mutate(LibraryState.self, SlideshowState.self) {
                library, open in
                library.slideshows.removeAll { $0.id == removed.id }
                if open.slideshow?.id == removed.id { open.slideshow = nil }
            }
        }
        .seal()

    /// Opens a slideshow, and reads it until what is open is what is stored: a change may land
    /// between the two.
    static let open = pipeline(InfrastructurePort.fetchSlideshow)
        .pipe(to: SlideshowSummary.self) { kernel, first in
            var shown = first
            while true {
                let slideshow = shown
                try await kernel.buffer.mutate(SlideshowState.self) { open in
                    if let other = open.slideshow, other.id == slideshow.id,
                        other.version >= slideshow.version
                    {
                        return
                    }
                    open.slideshow = slideshow
                }
                guard let stored = try await Photos.stored(kernel, shown.id) else {
                    try await kernel.buffer.mutate(SlideshowState.self) { open in
                        if open.slideshow?.id == slideshow.id { open.slideshow = nil }
                    }
                    return .fail(Photos.missing(slideshow.id))
                }
                if stored.version == shown.version { return .next(stored.summary) }
                shown = stored
            }
        }
        .seal()

    /// Closes the open slideshow.
    static let close = pipeline(Void.self)
        .effect { kernel, _ in
            try await kernel.buffer.mutate(SlideshowState.self) { $0.slideshow = nil }
        }
        .seal()

    /// Adds the image files of files and folders.
    static let addPhotos = pipeline(AddPhotos.self)
        .pipe(to: AppendPhotos.self) { kernel, request in
            let slideshow = try await kernel.call(
                InfrastructurePort.fetchSlideshow, SlideshowID(id: request.id))
            let found = try await Photos.gather(kernel, request.photos)
            let photos = try await kernel.call(
                ComputePort.selectPhotos,
                SelectPhotos(present: slideshow.slides.map(\.photo), candidates: found))
            return .next(AppendPhotos(slideshow: slideshow, photos: photos))
        }
        .pipe(ComputePort.appendPhotos)
        .pipe(InfrastructurePort.replaceSlideshow)
        .withRequest()
        .pipe(to: SlideshowSummary.self, diverts: [CircuitPort.addPhotos.name]) {
            kernel, pair in
            let (request, replacement) = pair
            return try await show(kernel, replacement)
                ?? .divert(to: CircuitPort.addPhotos, request)
        }
        .seal()

    // MARK: - Regions

    private static func show(_ kernel: any Handle, new summary: SlideshowSummary) async throws {
        try await kernel.buffer.mutate(LibraryState.self) { $0.show(summary) }
        // It may have been removed between the store and here.
        guard try await Photos.stored(kernel, summary.id) == nil else { return }
        try await kernel.buffer.mutate(LibraryState.self) { library in
            library.slideshows.removeAll { $0.id == summary.id }
        }
    }

    /// Shows what is stored now, unless a newer version is shown already.
    ///
    /// - Returns: nothing if another change came first, so that this one has to be made again.
    private static func show(
        _ kernel: any Handle, _ replacement: Replacement
    ) async throws -> Verb<SlideshowSummary>? {
        guard let stored = replacement.stored else { return nil }
        let summary = stored.summary
        let isListed = try await kernel.buffer.mutate(LibraryState.self, SlideshowState.self) {
            library, open in
            if let shown = open.slideshow, shown.id == stored.id, shown.version < stored.version {
                open.slideshow = stored
            }
            guard library.slideshows.contains(where: { $0.id == stored.id }) else { return false }
            library.show(summary)
            return true
        }
        // The list has not been read yet, or the slideshow was removed meanwhile.
        if !isListed { try await show(kernel, new: summary) }
        return .next(summary)
    }
}
