/// The row of the keys that matter where the user is; as many as fit.
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

    static func draw(for model: Model, into frame: inout Frame, row: Int) {
        var column = 1
        let here = model.open == nil ? library : slideshow
        for (key, text) in model.travel == nil ? here : past {
            let width = key.count + 1 + text.count
            guard column + width < frame.size.columns else { break }
            frame.put(key, row: row, column: column, style: .bold)
            frame.put(text, row: row, column: column + key.count + 1, style: .dim)
            column += width + 2
        }
    }
}
