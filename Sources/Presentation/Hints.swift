/// The row of the keys that matter where the user is, and of no others; as many as fit.
enum Hints {
    private static let library = [
        ("n", "new"), ("enter", "open"), ("?", "help"), ("q", "quit"), ("e", "rename"),
        ("d", "delete"), ("D", "devices"), ("r", "refresh"), ("T", "time"),
    ]
    private static let slideshow = [
        ("esc", "back"), ("a", "add photos"), ("?", "help"), ("q", "quit"), ("e", "rename"),
        ("D", "devices"), ("T", "time"),
    ]

    private static let past = [
        ("← →", "step"), ("esc", "present"), ("PgUp PgDn", "10 steps"), ("Home End", "the ends"),
        ("?", "help"), ("q", "quit"),
    ]

    private static func form(_ form: Form) -> [(String, String)] {
        [("enter", "send"), ("esc", "cancel")] + (form.fields.count > 1 ? [("tab", "next")] : [])
            + [("^U", "clear"), ("^C", "quit")]
    }
    private static let question = [("y", "delete"), ("n", "keep"), ("^C", "quit")]
    private static let devices = [
        ("R", "restart"), ("esc", "back"), ("x", "dismiss"), ("?", "help"), ("^C", "quit"),
    ]
    private static let help = [("esc", "back"), ("↑ ↓", "scroll"), ("^C", "quit")]

    private static func keys(for model: Model) -> [(key: String, text: String)] {
        switch model.overlay {
        case .form(let shown): form(shown)
        case .confirmDelete: question
        case .devices: devices
        case .help: help
        case nil where model.travel != nil: past
        case nil: model.open == nil ? library : slideshow
        }
    }

    static func draw(for model: Model, into frame: inout Frame, row: Int) {
        var column = 1
        for (key, text) in keys(for: model) {
            let width = key.count + 1 + text.count
            guard column + width < frame.size.columns else { break }
            frame.put(key, row: row, column: column, style: .bold)
            frame.put(text, row: row, column: column + key.count + 1, style: .dim)
            column += width + 2
        }
    }
}
