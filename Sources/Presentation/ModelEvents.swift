import Contract
import FoundationEssentials

/// What happens outside becomes state.
extension Model {
    /// Takes an event in.
    ///
    /// - Returns: what has to be done because of it, by nobody's key: a new connection reads the
    ///   library and opens again what is looked at.
    @discardableResult
    package mutating func apply(_ event: Event) -> [Intent] {
        var intents: [Intent] = []
        switch event {
        case .resize(let size): self.size = size
        case .connection(let next): intents = connectionBecame(next)
        case .silence(let isSilent): self.isSilent = isSilent
        case .kernelIsNew: orphanDrafts()
        case .library(let slideshows, let isLoading):
            library.apply(slideshows, isLoading: isLoading)
            closeOverlaysOfTheGone()
            if travel == nil { findDone() }
        case .slideshow(let slideshow):
            region = slideshow
            if travel == nil { follow(slideshow) } else { showPast(slideshow) }
            if travel == nil { findDone() }
        case .devices(let devices):
            self.devices = devices
            deviceCursor.follow(devices.lazy.map(\.name))
        case .errors(let errors): errorsBecame(errors)
        case .commandStarted(let id, let intent, let creates, let key):
            commandStarted(id, intent, started(intent, creates, key))
            if let creates { library.expect(creates) }
        case .second:
            for index in commands.indices { commands[index].seconds += 1 }
            for index in drafts.indices where drafts[index].isRunning { drafts[index].seconds += 1 }
        case .commandFinished(let id, let error): commandFinished(id, error)
        case .travelled(let moment): travelled(to: moment)
        case .present: endTravel()
        }
        settle()
        return intents
    }

    private mutating func connectionBecame(_ next: Connection) -> [Intent] {
        let wasConnected = isConnected
        connection = next
        isSilent = false
        if isConnected, !wasConnected {
            library.connectionChanged()
            // What was said of its absence is not true any more.
            ownErrors.removeAll { $0.code == Self.away }
            if case .form(var form) = overlay, form.message == Form.away {
                form.message = nil
                overlay = .form(form)
            }
            return [.refresh] + (open.map { [.open($0.id)] } ?? [])
        }
        if wasConnected, !isConnected {
            loseTravel()
            library.connectionChanged()
            region = nil
            open?.reopen()
        }
        return []
    }

    /// A question about a slideshow that is gone has no answer any more.
    private mutating func closeOverlaysOfTheGone() {
        guard library.freshness == .loaded else { return }
        switch overlay {
        case .confirmDelete(let summary):
            if let now = library[summary.id] {
                overlay = .confirmDelete(now)
            } else {
                overlay = nil
            }
        case .form(var form):
            guard case .rename(let summary) = form.purpose else { return }
            if library[summary.id] == nil {
                form.message = Form.deleted
            } else if form.message == Form.deleted {
                form.message = nil
            }
            overlay = .form(form)
        default: break
        }
    }

    mutating func follow(_ slideshow: Slideshow?) {
        // What closes before an own opening has ended is an earlier closing.
        if slideshow == nil, let id = open?.id,
            commands.contains(where: { $0.intent == .open(id) })
        {
            return
        }
        if open?.follow(slideshow) == false { open = nil }
    }

    private mutating func errorsBecame(_ all: [ErrorNotice]) {
        overcome.removeAll { !all.contains($0) }
        let errors = all.filter { !overcome.contains($0) }
        findFailed(errors.filter { !kernelErrors.contains($0) })
        let isNew = !errors.isEmpty && errors.last != kernelErrors.last
        let isRepeat =
            isNew
            && ownErrors.last.map { $0.tellsTheSame(as: errors[errors.count - 1]) }
                ?? false
        if isNew, !isRepeat { isOwnErrorNewest = false }
        kernelErrors = errors
    }

    // MARK: - Commands

    private mutating func commandStarted(_ id: UInt64, _ intent: Intent, _ errand: Errand?) {
        commands.removeAll { $0.id == id }
        commands.append(
            Command(id: id, intent: intent, label: label(of: intent), errand: errand))
        if intent == .refresh { library.refreshStarted() }
    }

    private mutating func commandFinished(_ id: UInt64, _ error: ErrorNotice?) {
        guard let index = commands.firstIndex(where: { $0.id == id }) else {
            if let error { report(error) }
            return
        }
        let command = commands.remove(at: index)
        let intent = command.intent
        if intent == .refresh {
            library.refreshFinished(failed: error != nil)
            if error == nil { findLost() }
        }
        if let id = intent.configured, open?.id == id,
            !commands.contains(where: { $0.intent.configured == id })
        {
            open?.settle()
        }
        if case .open(let id) = intent, open?.id == id {
            if error == nil, region?.id == id {
                open?.opened()
            } else if error != nil, open?.content == nil {
                open = nil
            }
        }
        // There is no way into the past, so the user is still here.
        if case .travel = intent, error != nil, travel?.moment == nil { endTravel() }
        if let errand = command.errand {
            if let error {
                failed(errand, error)
            } else if !errand.isDispatched {
                done(errand)
            }
        }
        if let error { report(error) }
    }

    private func label(of intent: Intent) -> String? {
        switch intent {
        case .create(let name, _): "creating “\(name)”…"
        case .rename(let id, _): "renaming “\(name(of: id))”…"
        case .delete(let id): "deleting “\(name(of: id))”…"
        case .open(let id): "opening “\(name(of: id))”…"
        case .addPhotos(let id, _): "adding photos to “\(name(of: id))”…"
        case .setDuration(let id, _), .setTransition(let id, _), .setLoop(let id, _):
            "changing “\(name(of: id))”…"
        case .refresh: "reading the library…"
        case .restart(let device): "restarting \(device)…"
        case .close, .travel, .present, .dismissError, .quit, .redraw, .suspend: nil
        }
    }

    private func name(of id: UUID) -> String {
        library[id]?.name ?? (open?.id == id ? open?.name : nil) ?? "slideshow"
    }
}
