import Contract
import Control
import FoundationEssentials

/// What becomes of what the user asked for: a form that fails is not lost, and an error leaves when
/// what it told of has been done after all.
///
/// A command that reads many files is answered when it was accepted. That it has failed is told in
/// `Kernel.Errors`, that it is done is seen by what it has made.
enum Errand: Sendable, Equatable {
    case create
    case rename(UUID)
    case delete(UUID)
    case open(UUID)
    case addPhotos(UUID)
    case configure(UUID)
    case refresh
    case restart(String)

    /// Nil for what is not worth a word.
    init?(_ intent: Intent) {
        switch intent {
        case .create: self = .create
        case .rename(let id, _): self = .rename(id)
        case .delete(let id): self = .delete(id)
        case .open(let id): self = .open(id)
        case .addPhotos(let id, _): self = .addPhotos(id)
        case .setDuration(let id, _), .setTransition(let id, _), .setLoop(let id, _):
            self = .configure(id)
        case .refresh: self = .refresh
        case .restart(let device): self = .restart(device)
        case .close, .dismissError, .travel, .present, .quit, .redraw, .suspend: return nil
        }
    }

    init(_ purpose: Form.Purpose) {
        switch purpose {
        case .create: self = .create
        case .rename(let summary): self = .rename(summary.id)
        case .addPhotos(let id, _): self = .addPhotos(id)
        }
    }

    /// What is dispatched for it; nil for what is called, whose end is its answer.
    var dispatched: String? {
        switch self {
        case .create: CircuitPort.createSlideshow.name
        case .addPhotos: CircuitPort.addPhotos.name
        default: nil
        }
    }
}

/// A form that was sent and whose end is not known, or that has failed.
struct Draft: Sendable, Equatable {
    var form: Form
    /// What it makes, once that is known.
    var creates: UUID?
    /// How many slides there were before it.
    var slides: Int?
    var hasFailed = false

    var errand: Errand { Errand(form.purpose) }
}

extension Model {
    /// An error that was told of an errand.
    struct Failure: Sendable, Equatable {
        let errand: Errand
        let notice: ErrorNotice
    }

    /// A form to fill in: as the user left it, with what was wrong, if it has failed.
    func form(_ purpose: Form.Purpose) -> Form {
        drafts.first { $0.errand == Errand(purpose) && $0.hasFailed }?.form ?? Form(purpose)
    }

    mutating func sent(_ form: Form) {
        var draft = Draft(form: form)
        if case .addPhotos(let id, _) = form.purpose { draft.slides = slides(of: id) }
        drafts.removeAll { $0.errand == draft.errand }
        drafts.append(draft)
    }

    mutating func failed(_ errand: Errand, _ notice: ErrorNotice) {
        failures.append(Failure(errand: errand, notice: notice))
        if failures.count > Self.mostOwnErrors { failures.removeFirst() }
        guard let index = drafts.firstIndex(where: { $0.errand == errand }) else { return }
        drafts[index].form.message = notice.message
        drafts[index].hasFailed = true
    }

    /// Takes new errors of the kernel for those of what was dispatched.
    mutating func findFailed(_ notices: [ErrorNotice]) {
        for notice in notices {
            guard let draft = drafts.first(where: { $0.errand.dispatched == notice.symbol }),
                notice.symbol != nil, !draft.hasFailed
            else { continue }
            failed(draft.errand, notice)
        }
    }

    /// Finds what was dispatched and is done by what there is now.
    mutating func findDone() {
        for draft in drafts {
            let isDone =
                switch draft.form.purpose {
                case .create: draft.creates.map { library[$0] != nil } ?? false
                case .addPhotos(let id, _): (slides(of: id) ?? 0) > (draft.slides ?? .max)
                case .rename: false
                }
            if isDone { done(draft.errand) }
        }
    }

    /// It is done: what was wrong before is not worth a row any more.
    mutating func done(_ errand: Errand) {
        drafts.removeAll { $0.errand == errand }
        let old = failures.filter { $0.errand == errand }
        guard !old.isEmpty else { return }
        failures.removeAll { $0.errand == errand }
        func isOld(_ notice: ErrorNotice) -> Bool {
            old.contains { $0.notice.tellsTheSame(as: notice) }
        }
        ownErrors.removeAll(where: isOld)
        // The kernel keeps them, for others.
        overcome += kernelErrors.filter(isOld)
        kernelErrors.removeAll(where: isOld)
    }

    private func slides(of id: UUID) -> Int? {
        let shown = open.flatMap { $0.id == id ? $0.content?.slides.count : nil }
        return [shown, library[id]?.slideCount].compactMap(\.self).max()
    }
}
