internal import Glibc

/// Where an instance keeps what outlives it.
package struct InstanceFolders: Equatable, Sendable {
    /// Where devices keep their data.
    package let data: String
    /// Where the logs are.
    package var logs: String { "\(data)/log" }
    /// Locked by the kernel that uses the data.
    package var lock: String { "\(data)/kernel.lock" }
    /// Holds the number of the last start.
    package var epoch: String { "\(data)/kernel.epoch" }

    /// - Parameter given: the folder that the command line names, relative to the working directory
    ///   or not; nil: `$XDG_DATA_HOME/concentric/NAME`.
    package init(name: String, given: String?) {
        if let given {
            data = Self.absolute(given)
            return
        }
        let base =
            Self.variable("XDG_DATA_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? (Self.variable("HOME") ?? "/tmp") + "/.local/share"
        data = "\(base)/concentric/\(name)"
    }

    /// A variable of the environment.
    package static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// The path of the program that runs.
    package static var program: String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return CommandLine.arguments.first ?? "concentric" }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return "\(String(cString: here))/\(path)"
    }
}
