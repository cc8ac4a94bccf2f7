import Contract
import Control
import FoundationEssentials

/// What becomes of what the user asked for: a form that fails is not lost, and an error leaves when
/// what it told of has been done after all.
///
/// A command that reads many files is answered when it was accepted. That it has failed is told in
/// `Kernel.Errors`, under the key that this client has given it; that it is done is seen by what it
/// has made.
enum Errand: Sendable, Equatable {
    /// What a form makes, by the number of the form: two of them are two errands. A form that was
    /// corrected is the same one.
    case form(UInt64)
    case rename(UUID)
    case delete(UUID)
    case open(UUID)
    case configure(UUID)
    case refresh
    case restart(String)

    /// Nil for what is not worth a word, and for what its form knows.
    init?(_ intent: Intent) {
        switch intent {
        case .rename(let id, _): self = .rename(id)
        case .delete(let id): self = .delete(id)
        case .open(let id): self = .open(id)
        case .setDuration(let id, _), .setTransition(let id, _), .setLoop(let id, _):
            self = .configure(id)
        case .refresh: self = .refresh
        case .restart(let device): self = .restart(device)
        case .create, .addPhotos, .close, .dismissError, .travel, .present, .quit, .redraw,
            .suspend:
            return nil
        }
    }

    /// Whether it is dispatched. The end of what is called is its answer.
    var isDispatched: Bool {
        if case .form = self { true } else { false }
    }
}

/// A form that was sent and whose end is not known, or that has failed.
struct Draft: Sendable, Equatable {
    var form: Form
    let intent: Intent
    let errand: Errand
    /// It is on its way, or was.
    var hasStarted = false
    /// For how long.
    var seconds = 0
    /// The key under which it was asked for.
    var key: String?
    /// What it makes, once that is known.
    var creates: UUID?
    /// How many slides there were before it.
    var slides: Int?
    var hasFailed = false
    /// The kernel that had accepted it is gone.
    var isOrphan = false

    /// Whether it may not have come to its end: once its deadline is over a command has failed and
    /// that was told, or it is done. One that waits long in its lane is thought done too early.
    var isRunning: Bool {
        hasStarted && !hasFailed && seconds < Self.longest
    }

    /// Seconds: the deadline of the commands that are dispatched, and half of it for their lane.
    private static let longest = Int(CircuitPort.addPhotos.traits.deadline) * 3 / 2_000
}

extension Model {
    /// An error that was told of an errand.
    struct Failure: Sendable, Equatable {
        let errand: Errand
        let notice: ErrorNotice
    }

    /// A form to fill in: as the user left it, with what was wrong, if it has failed.
    func form(_ purpose: Form.Purpose) -> Form {
        let failed = drafts.last { $0.hasFailed && $0.form.purpose.isLike(purpose) }
        return failed?.form ?? Form(purpose)
    }

    mutating func sent(_ form: Form, _ intent: Intent) {
        var form = form
        let number = form.number ?? lastForm + 1
        form.number = number
        lastForm = max(lastForm, number)
        var draft = Draft(form: form, intent: intent, errand: Errand(intent) ?? .form(number))
        if case .addPhotos(let id, _) = form.purpose { draft.slides = slides(of: id) }
        drafts.removeAll { $0.errand == draft.errand }
        drafts.append(draft)
        // What was done long ago, or elsewhere, may never be known to be.
        if drafts.count > Self.mostDrafts { drafts.removeFirst() }
    }

    /// The user does not want what has failed any more: the next form is a new one.
    mutating func giveUp(_ form: Form) {
        drafts.removeAll { $0.hasFailed && $0.form.number == form.number }
    }

    /// An intent is on its way, that of the form that was sent last if it is one.
    /// - Returns: the errand.
    mutating func started(_ intent: Intent, _ creates: UUID?, _ key: String?) -> Errand? {
        guard
            let index = drafts.lastIndex(where: {
                !$0.hasStarted && !$0.hasFailed && $0.intent == intent
            })
        else { return Errand(intent) }
        drafts[index].hasStarted = true
        drafts[index].key = key
        drafts[index].creates = creates
        return drafts[index].errand
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
            guard let key = notice.key, let draft = drafts.first(where: { $0.key == key }),
                !draft.hasFailed
            else { continue }
            failed(draft.errand, notice)
        }
    }

    /// Whether the seconds are to be told: something is on its way, or may be.
    package var countsSeconds: Bool { !commands.isEmpty || drafts.contains(where: \.isRunning) }

    /// Nobody will tell how these end.
    mutating func orphanDrafts() {
        for index in drafts.indices where drafts[index].isRunning {
            drafts[index].isOrphan = drafts[index].errand.isDispatched
        }
    }

    /// The library was read from a new kernel: what is not in it was not done by the old one.
    mutating func findLost() {
        for draft in drafts where draft.isOrphan && !draft.hasFailed {
            let what =
                switch draft.form.purpose {
                case .addPhotos(_, let name): "the photos may not be in “\(name)”"
                case .create, .rename: "the slideshow was not made"
                }
            let notice = ErrorNotice(
                code: KernelError.Code.kernelLost.rawValue,
                message: "\(what), for the kernel ended meanwhile; the form has what you typed")
            failed(draft.errand, notice)
            report(notice)
        }
    }

    /// Finds what was dispatched and is done by what there is now.
    mutating func findDone() {
        for draft in drafts {
            let isDone =
                switch draft.form.purpose {
                case .create: draft.creates.map { library[$0] != nil } ?? false
                case .addPhotos(let id, _):
                    (slides(of: id) ?? 0) > (draft.slides ?? .max)
                        || (library.freshness == .loaded && slides(of: id) == nil)
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
