import Glibc

/// Plants the mutants into a copy of the sources, or lists them; `Scripts/mutants` does the rest.
@main
enum Entry {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        switch words.first {
        case "list" where words.count == 1: list()
        case "plant" where words.count == 2: plant(words[1])
        default:
            complain("usage: Mutants list | Mutants plant FOLDER")
            exit(64)
        }
    }

    /// A line for each check: the rule, then `seeds`, or a target and the name of a test, then
    /// those that are exempt with their reason; between them tabs.
    private static func list() {
        for mutant in Catalogue.all {
            for check in mutant.checks {
                switch check {
                case .seeds: print("\(mutant.rule)\tseeds\t")
                case .test(let target, let name): print("\(mutant.rule)\t\(target)\t\(name)")
                }
            }
        }
        for exemption in Catalogue.exemptions { print("\(exemption.rule)\t-\t\(exemption.reason)") }
    }

    private static func plant(_ folder: String) {
        var complaints = Planting.complaints(
            of: Catalogue.all, Catalogue.exemptions, model: Catalogue.model)
        for file in Set(Catalogue.all.flatMap(\.edits).map(\.file)).sorted() {
            guard let text = read("\(folder)/\(file)") else {
                complain("mutants: \(folder)/\(file) cannot be read")
                exit(1)
            }
            let planted = Planting.plant(Catalogue.all, in: file, text)
            complaints += planted.complaints
            guard planted.text == text || write(planted.text, to: "\(folder)/\(file)") else {
                complain("mutants: \(folder)/\(file) cannot be written")
                exit(1)
            }
        }
        for complaint in complaints { complain("mutants: \(complaint)") }
        if !complaints.isEmpty { exit(1) }
    }

    private static func complain(_ line: String) {
        var bytes = Array(line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        _ = Glibc.write(2, bytes, bytes.count)
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        let bytes = Array(text.utf8)
        let count = fwrite(bytes, 1, bytes.count, file)
        return fclose(file) == 0 && count == bytes.count
    }
}
