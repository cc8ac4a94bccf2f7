import FoundationEssentials
import Glibc
import Testing
import Values

/// The JSON of values and patches, given to an implementation of RFC 6902 that knows nothing of
/// this one: the Python package `jsonpatch` (`python3-jsonpatch` of Debian, which `Scripts/setup`
/// installs; 1.33 was tried).
struct OtherImplementationTests {
    /// A Python that has the package: the one in the path, or that of the system.
    static let python = ["python3", "/usr/bin/python3"].first {
        system("\($0) -c 'import jsonpatch' >/dev/null 2>&1") == 0
    }

    /// Reads a case a line, `{"old", "new", "patch", "inverse"}`, and says what comes out of each.
    static let program = """
        import json, sys, jsonpatch
        for line in sys.stdin:
            case = json.loads(line)
            old, new = case["old"], case["new"]
            try:
                answer = {
                    "forward": jsonpatch.apply_patch(old, case["patch"]),
                    "back": jsonpatch.apply_patch(new, case["inverse"])}
            except Exception as error:
                answer = {"failed": repr(error)}
            try:
                theirs = list(jsonpatch.make_patch(old, new))
                answer["result"] = jsonpatch.apply_patch(old, theirs)
                answer["theirs"] = theirs
            except Exception:
                pass
            print(json.dumps(answer))
        """

    struct Case {
        let old: Value
        let new: Value
        let patch: Patch
        let inverse: Patch

        /// Nil where the JSON of a map is wrapped, for then pointers into the JSON are others, and
        /// where a member `-` is replaced, which the package refuses.
        init?(_ old: Value, _ new: Value) throws {
            (self.old, self.new) = (old, new)
            patch = Patch.difference(from: old, to: new)
            inverse = try patch.inverse(on: old)
            for case .replace(let path, _) in patch.operations + inverse.operations
            where path.tokens.last == "-" {
                return nil
            }
            if line.contains("\"$map\"") { return nil }
        }

        var line: String {
            let value: Value = [
                "old": old, "new": new, "patch": patch.value, "inverse": inverse.value,
            ]
            return value.json()
        }
    }

    // The seeds are fixed, for the other implementation has faults of its own.
    @Test(
        .enabled(if: python != nil, "no python3 with jsonpatch: see Scripts/setup"),
        arguments: [11, 12, 13] as [UInt64])
    func `patches as JSON do the same in another implementation`(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        var cases: [Case] = []
        while cases.count < 300 {
            let old = random.value()
            let new = random.below(4) == 0 ? random.value() : random.changed(old)
            if let made = try Case(old, new) { cases.append(made) }
        }
        let answers = try Self.run(cases.map(\.line))
        try #require(answers.count == cases.count)
        var taken = 0
        for (entry, answer) in zip(cases, answers) {
            let said = try Value.parse(json: answer)
            let comment = Comment(rawValue: "seed \(seed): \(answer) of \(entry.line)")
            #expect(said["forward"] == entry.new, comment)
            #expect(said["back"] == entry.old, comment)
            // To them a leaf such as `{"$bytes": …}` is a map, which their patches go into. Some of
            // their patches do not apply, by their own account either.
            guard !entry.line.contains("{\"$"), let result = said["result"] else { continue }
            let theirs = try Patch(value: said["theirs"] ?? .null).apply(to: entry.old)
            #expect(theirs == result, comment)
            taken += 1
        }
        #expect(taken > cases.count / 4, "seed \(seed): \(taken)")
    }

    private static func run(_ lines: [String]) throws -> [String] {
        let file = "/tmp/concentric-patches-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        defer { unlink(file) }
        let text = lines.map { $0 + "\n" }.joined()
        try Data(text.utf8).write(to: URL(filePath: file))
        let command = "\(python ?? "python3") -c '\(program)' <\(file)"
        let stream = try #require(popen(command, "r"))
        defer { pclose(stream) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 {
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
