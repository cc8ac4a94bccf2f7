import Contract

/// Keys become intents.
extension Model {
    /// Does what a key means where the user is.
    ///
    /// - Returns: what the owner of the terminal has to carry out.
    package mutating func handle(_ key: Key) -> [Intent] {
        let intents = allowed(intents(for: key))
        settle()
        return intents
    }

    private mutating func intents(for key: Key) -> [Intent] {
        switch key {
        case .control("c"): return [.quit]
        case .control("l"): return [.redraw]
        case .control("z"): return [.suspend]
        default: break
        }
        if layout.isTooSmall { return key == .character("q") ? [.quit] : [] }
        switch overlay {
        case .form(let form): return handle(key, in: form)
        case .confirmDelete(let summary): return handle(key, deleting: summary)
        case .help(let scroll): return handle(key, inHelpAt: scroll)
        case .devices: return handleInDevices(key)
        case nil: break
        }
        if travel != nil { return inPast(key) }
        return common(key) ?? (open == nil ? inLibrary(key) : inSlideshow(key))
    }

    /// The code of an error of this client: it could not ask.
    static let away = "away"

    /// Holds back what cannot be done while the kernel is away, and says so.
    private mutating func allowed(_ intents: [Intent]) -> [Intent] {
        if isConnected {
            guard travel != nil, intents.contains(where: { !$0.isPast }) else { return intents }
            refuseInPast()
            return intents.filter(\.isPast)
        }
        // Closing and dismissing were done on the screen; a new kernel knows neither.
        let refused = intents.filter { !$0.isLocal && $0 != .close && $0 != .dismissError }
        if !refused.isEmpty {
            let notice = ErrorNotice(
                code: Self.away, message: "The kernel is away; nothing was sent.")
            if self.notice != notice { report(notice) }
        }
        return intents.filter(\.isLocal)
    }

    private mutating func common(_ key: Key) -> [Intent]? {
        switch key {
        case .character("q"): return [.quit]
        case .character("?"), .function(1): overlay = .help(scroll: 0)
        case .character("D"): overlay = .devices
        case .character("T"): return beginTravel()
        case .character("r"), .function(5): return [.refresh]
        case .character("x"): return dismiss()
        default: return nil
        }
        return []
    }

    mutating func dismiss() -> [Intent] {
        guard let notice else { return [] }
        // The kernel keeps its errors until the user is back.
        if travel != nil, ownErrors.last != notice { return [.dismissError] }
        if let own = ownErrors.last, own == notice {
            ownErrors.removeLast()
            // The kernel tells of the same failure: it is dismissed with it.
            guard travel == nil, let kernel = kernelErrors.last, kernel.tellsTheSame(as: own)
            else { return [] }
        }
        kernelErrors = []
        return [.dismissError]
    }

    // MARK: - Screens

    private mutating func inLibrary(_ key: Key) -> [Intent] {
        if library.handle(key, page: layout.list.count) { return [] }
        switch key {
        case .character("n"), .character("c"), .insert: overlay = .form(form(.create))
        case .character("e"), .function(2):
            if let selected = library.selected { overlay = .form(form(.rename(selected))) }
        case .character("d"), .delete:
            if let selected = library.selected { overlay = .confirmDelete(selected) }
        case .enter, .right, .character("l"), .character("o"):
            guard let selected = library.selected else { return [] }
            if isConnected {
                open = OpenSlideshow(
                    id: selected.id, knownName: selected.name, region: region)
            }
            return [.open(selected.id)]
        default: break
        }
        return []
    }

    private mutating func inSlideshow(_ key: Key) -> [Intent] {
        guard var shown = open else { return [] }
        let isMoved = shown.handle(key, page: layout.list.count)
        open = shown
        if isMoved { return [] }
        switch key {
        case .escape, .left, .backspace, .character("h"):
            open = nil
            if case .elsewhere = shown.phase { return [] }
            return [.close]
        case .character("a"), .insert:
            overlay = .form(form(.addPhotos(shown.id, name: shown.name)))
        case .character("e"), .function(2):
            if let summary = shown.content?.summary {
                overlay = .form(form(.rename(summary)))
            }
        case .enter:
            guard case .elsewhere = shown.phase else { return [] }
            if isConnected { open?.reopen() }
            return [.open(shown.id)]
        default: return configure(shown, key)
        }
        return []
    }

    /// Each key goes one choice on from what was chosen last, told by the kernel or not.
    private mutating func configure(_ shown: OpenSlideshow, _ key: Key) -> [Intent] {
        guard var config = shown.config else { return [] }
        let intent: Intent
        switch key {
        case .character("d"):
            config.duration = Self.next(after: config.duration)
            intent = .setDuration(shown.id, config.duration)
        case .character("t"):
            config.transition = Self.next(after: config.transition)
            intent = .setTransition(shown.id, config.transition)
        case .character("l"):
            config.loop.toggle()
            intent = .setLoop(shown.id, config.loop)
        default: return []
        }
        if isConnected { open?.propose(config) }
        return [intent]
    }

    private static func next<Choice: CaseIterable & Equatable>(after choice: Choice) -> Choice {
        let all = Array(Choice.allCases)
        let index = all.firstIndex(of: choice) ?? 0
        return all[(index + 1) % all.count]
    }

    // MARK: - Overlays

    private mutating func handle(_ key: Key, in form: Form) -> [Intent] {
        var form = form
        switch form.handle(key, home: settings.home) {
        case .stays: overlay = .form(form)
        case .cancelled:
            overlay = nil
            giveUp(form)
        case .submitted(let intent):
            if intent != nil, !isConnected {
                form.message = Form.away
                overlay = .form(form)
                return []
            }
            overlay = nil
            guard let intent else { return [] }
            sent(form, intent)
            return [intent]
        }
        return []
    }

    private mutating func handle(_ key: Key, deleting summary: SlideshowSummary) -> [Intent] {
        switch key {
        case .character("y"), .character("Y"):
            overlay = nil
            return [.delete(summary.id)]
        case .character("n"), .character("N"), .escape, .character("q"): overlay = nil
        default: break
        }
        return []
    }

    private mutating func handle(_ key: Key, inHelpAt scroll: Int) -> [Intent] {
        let page = HelpView.rows(in: size)
        switch key {
        case .escape, .enter, .character("?"), .character("q"), .function(1): overlay = nil
        case .up, .character("k"): overlay = .help(scroll: scroll - 1)
        case .down, .character("j"): overlay = .help(scroll: scroll + 1)
        case .pageUp: overlay = .help(scroll: scroll - page)
        case .pageDown, .character(" "): overlay = .help(scroll: scroll + page)
        case .home: overlay = .help(scroll: 0)
        case .end: overlay = .help(scroll: HelpView.furthestScroll(in: size))
        default: break
        }
        return []
    }

    private mutating func handleInDevices(_ key: Key) -> [Intent] {
        let names = devices.lazy.map(\.name)
        if deviceCursor.handle(key, in: names, page: DevicePanel.rows(in: size)) { return [] }
        switch key {
        case .escape, .left, .character("D"), .character("q"): overlay = nil
        case .character("R"): return deviceCursor.id.map { [.restart(device: $0)] } ?? []
        case .character("x"): return dismiss()
        case .character("?"): overlay = .help(scroll: 0)
        default: break
        }
        return []
    }
}
