import DeviceKit

/// What the doctor found.
struct Finding: Equatable {
    enum Level: String {
        case ok
        /// It works, and something is not as it should be.
        case warn
        /// Something does not work.
        case fail
    }

    /// What the doctor looks at, in this order.
    enum Section: String, CaseIterable {
        case environment
        case system
        case limits
        case paths
        case devices
        case grants
        case versions
        case leftovers
    }

    var section: Section
    var level: Level
    var what: String
    /// What to do; never empty but when all is well.
    var advice: String

    static func ok(_ section: Section, _ what: String) -> Finding {
        Finding(section: section, level: .ok, what: what, advice: "")
    }

    static func warn(_ section: Section, _ what: String, _ advice: String) -> Finding {
        Finding(section: section, level: .warn, what: what, advice: advice)
    }

    static func fail(_ section: Section, _ what: String, _ advice: String) -> Finding {
        Finding(section: section, level: .fail, what: what, advice: advice)
    }

    /// `ok` or `otherwise`, as `condition` is.
    static func check(_ condition: Bool, ok: Finding, otherwise: Finding) -> Finding {
        condition ? ok : otherwise
    }

    var value: Value {
        .map([
            "section": .text(section.rawValue), "level": .text(level.rawValue),
            "what": .text(what), "advice": advice.isEmpty ? .null : .text(advice),
        ])
    }

    var line: String {
        let colours: [Level: Output.Colour] = [.ok: .green, .warn: .yellow, .fail: .red]
        let word = level.rawValue + String(repeating: " ", count: 4 - level.rawValue.count)
        let mark = Output.coloured(word, colours[level] ?? .grey)
        let text = Output.plain(advice.isEmpty ? what : "\(what): \(advice)")
        return "\(mark)  \(section.rawValue): \(text)"
    }
}
