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
    static let update = pipeline(UpdateSlideshow.self)
        .pipe(to: Slideshow.self) { kernel, update in
            try await change(kernel, update.id) { slideshow in
                try await kernel.call(
                    ComputePort.updateSlideshow,
                    SlideshowChange(slideshow: slideshow, update: update))
            }
        }
        .pipe(to: SlideshowSummary.self) { kernel, slideshow in
            try await show(kernel, changed: slideshow.id)
            return .next(slideshow.summary)
        }
        .seal()

    /// Changes how a slideshow is shown.
    static let updateConfig = pipeline(UpdateConfig.self)
        .pipe(to: Slideshow.self) { kernel, update in
            try await change(kernel, update.id) { slideshow in
                try await kernel.call(
                    ComputePort.applyConfig, ConfigChange(slideshow: slideshow, update: update))
            }
        }
        .pipe(to: SlideshowSummary.self) { kernel, slideshow in
            try await show(kernel, changed: slideshow.id)
            return .next(slideshow.summary)
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

    /// Opens a slideshow.
    static let open = pipeline(InfrastructurePort.fetchSlideshow)
        .pipe(to: SlideshowSummary.self) { kernel, slideshow in
            try await kernel.buffer.mutate(SlideshowState.self) { $0.slideshow = slideshow }
            try await show(kernel, changed: slideshow.id)
            return .next(slideshow.summary)
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
        .pipe(to: SelectPhotos.self) { kernel, request in
            let slideshow = try await kernel.call(
                InfrastructurePort.fetchSlideshow, SlideshowID(id: request.id))
            let found = try await Photos.gather(kernel, request.photos)
            return .next(
                SelectPhotos(present: slideshow.slides.map(\.photo), candidates: found))
        }
        .pipe(ComputePort.selectPhotos)
        .withRequest()
        .pipe(to: Slideshow.self) { kernel, pair in
            let (request, photos) = pair
            return try await change(kernel, request.id) { slideshow in
                try await kernel.call(
                    ComputePort.appendPhotos, AppendPhotos(slideshow: slideshow, photos: photos))
            }
        }
        .pipe(to: SlideshowSummary.self) { kernel, slideshow in
            try await show(kernel, changed: slideshow.id)
            return .next(slideshow.summary)
        }
        .seal()

    // MARK: - Changing

    /// Reads a slideshow, makes another of it and stores that, again if another change came first.
    private static func change(
        _ kernel: any Handle, _ id: UUID,
        _ make: (Slideshow) async throws -> Slideshow
    ) async throws -> Verb<Slideshow> {
        for _ in 0..<16 {
            let base = try await kernel.call(
                InfrastructurePort.fetchSlideshow, SlideshowID(id: id))
            let changed = try await make(base)
            let replacement = Replacement(base: base, changed: changed)
            if try await kernel.call(InfrastructurePort.replaceSlideshow, replacement) {
                return .next(changed)
            }
        }
        return .fail(
            KernelError(.conflict, "the slideshow was changed 16 times meanwhile", retry: true))
    }

    // MARK: - Regions

    private static func show(_ kernel: any Handle, new summary: SlideshowSummary) async throws {
        try await kernel.buffer.mutate(LibraryState.self) { library in
            guard !library.slideshows.contains(where: { $0.id == summary.id }) else { return }
            library.put(summary)
        }
        // It may have been removed between the store and here.
        guard try await Photos.stored(kernel, summary.id) == nil else { return }
        try await kernel.buffer.mutate(LibraryState.self) { library in
            library.slideshows.removeAll { $0.id == summary.id }
        }
    }

    /// Shows what the store holds of a slideshow. Another command may change it meanwhile, and show
    /// that first: the store is asked until it still holds what was shown.
    private static func show(_ kernel: any Handle, changed id: UUID) async throws {
        var shown: Slideshow?
        for _ in 0..<16 {
            let stored = try await Photos.stored(kernel, id)
            if let shown, shown == stored { return }
            try await kernel.buffer.mutate(LibraryState.self, SlideshowState.self) {
                library, open in
                if let stored, library.slideshows.contains(where: { $0.id == id }) {
                    library.put(stored.summary)
                }
                if open.slideshow?.id == id { open.slideshow = stored }
            }
            guard let stored else { return }
            shown = stored
        }
    }
}
