import DeviceKit
import Glibc

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
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            scalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        return String(scalars)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            // Whoever read the output has gone.
            guard count > 0 else { exit(0) }
            bytes = bytes.dropFirst(count)
        }
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
