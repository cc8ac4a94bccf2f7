import DeviceKit
import Glibc

/// What was to be written and cannot be.
struct OutputError: Error {
    var message: String
}

/// What the shell prints, and the exit codes of sysexits.
enum Output {
    static func line(_ text: String) {
        write(text + "\n", to: 1)
    }

    static func complain(_ text: String) {
        write("concentric: \(plain(text))\n", to: 2)
    }

    /// A text from elsewhere as one line that cannot move the cursor.
    static func plain(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(isSteering(scalar.value) ? "\u{FFFD}" : scalar)
        }
        return String(scalars)
    }

    /// Control characters, ends of lines and of paragraphs, and what turns the direction of text.
    private static func isSteering(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0x61C: true
        default: false
        }
    }

    /// Whether colours are welcome: on a terminal that has some, unless somebody objects.
    static let hasColours: Bool = {
        func isSet(_ name: String) -> Bool { getenv(name).map { $0.pointee != 0 } ?? false }
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        return isatty(1) == 1 && !isSet("NO_COLOR") && !isDumb
    }()

    /// A colour of the terminal's palette, by its number in ECMA-48.
    enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33
        case blue = 34
        case magenta = 35
        case cyan = 36
        case grey = 90
    }

    static func coloured(_ text: String, _ colour: Colour) -> String {
        hasColours ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Ends the program when standard output takes no more: with 0 when whoever read it has gone,
    /// else with 74. What standard error does not take is lost, and changes no exit code.
    private static func write(_ text: String, to descriptor: Int32) {
        let error = put(text, on: descriptor)
        guard error != 0, descriptor == 1 else { return }
        if error == EPIPE { exit(0) }
        let why = String(cString: strerror(error))
        complain("standard output cannot be written: \(why); what was said is not complete")
        exit(74)
    }

    /// - Returns: the error number of what cannot be written; 0 if all was.
    static func put(_ text: String, on descriptor: Int32) -> Int32 {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Somebody else made the terminal or the pipe one that does not wait.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            default: return errno
            }
        }
        return 0
    }

    /// The exit code that says what kind of error it is.
    static func code(of error: KernelError) -> Int32 {
        switch error.code {
        case .unavailable, .kernelLost, .unbound, .unsupported: 69
        case .malformed, .tooLarge: 65
        case .denied: 77
        case .deadline, .attempt, .overloaded, .conflict: 75
        default: error.retry ? 75 : 70
        }
    }

    /// Columns as wide as their widest cell.
    static func table(_ header: [String], _ rows: [[String]]) {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        for row in all {
            let cells = row.enumerated().map { column, cell in
                cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            var text = cells.joined(separator: "  ")
            while text.hasSuffix(" ") { text.removeLast() }
            line(text)
        }
    }
}

extension Value {
    /// A cell of a table: text as it is, anything else as JSON, nothing for null.
    var cell: String {
        if isNull { return "-" }
        return text.map(Output.plain) ?? json()
    }
}
