import DeviceKit

/// A flow as somebody writes it: by its number in this life of the kernel, as `trace` shows it, or
/// with the epoch before it, as errors name it.
struct FlowName: Equatable {
    /// Nil: that of the kernel that is asked.
    var epoch: UInt64?
    var number: UInt64

    init?(_ word: String) {
        let parts = word.split(separator: "-", omittingEmptySubsequences: false)
        if parts.count == 2, let epoch = UInt64(parts[0]), let number = UInt64(parts[1]) {
            self.epoch = epoch
            self.number = number
        } else if let number = UInt64(word.hasPrefix("#") ? String(word.dropFirst()) : word) {
            self.number = number
        } else {
            return nil
        }
    }
}

/// A payload that is not JSON.
struct PayloadError: Error {
    var message: String

    init(word: String, _ error: any Error) {
        message = "the payload is not JSON: \(error)"
        // What does not begin like any JSON was meant as a text: the quotes of it were the shell's.
        if let first = word.first, !"{[\"".contains(first), !word.contains("'"), word.count <= 60 {
            message +=
                "; a text needs quotes inside of the shell's: '\(Value.text(word).json())'"
        }
    }
}
