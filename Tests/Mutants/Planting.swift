/// How the mistakes get into a copy of the sources: all at once, each behind a question that is
/// answered by the environment, so that one build serves every rule.
enum Planting {
    struct Complaint: Equatable, CustomStringConvertible {
        var rule: String
        var file: String
        var problem: String

        var description: String { "\(rule): \(file): \(problem)" }
    }

    /// The text of a file with the edits of all mutants in it.
    ///
    /// - Parameter file: its path, as the edits name it.
    static func plant(
        _ mutants: [Mutant], in file: String, _ text: String
    ) -> (text: String, complaints: [Complaint]) {
        var complaints: [Complaint] = []
        var places: [(range: Range<String.Index>, rule: String, planted: String)] = []
        for mutant in mutants {
            for edit in mutant.edits where edit.file == file {
                let found = text.ranges(of: edit.text)
                guard found.count == 1, let range = found.first else {
                    complaints.append(
                        Complaint(
                            rule: mutant.rule, file: file,
                            problem: "stands \(found.count) times instead of once: \(edit.text)"))
                    continue
                }
                let planted = edit.planted.replacing(
                    "BROKEN", with: "broken(\"\(mutant.rule)\")")
                places.append((range, mutant.rule, planted))
            }
        }
        places.sort { $0.range.lowerBound < $1.range.lowerBound }
        for (first, second) in zip(places, places.dropFirst())
        where second.range.lowerBound < first.range.upperBound {
            complaints.append(
                Complaint(
                    rule: second.rule, file: file, problem: "overlaps with \(first.rule)"))
        }
        guard complaints.isEmpty else { return (text, complaints) }
        var result = text
        for place in places.reversed() {
            result.replaceSubrange(place.range, with: place.planted)
        }
        // The switch lives in Control.
        if !places.isEmpty, !text.contains("import Control") {
            result = "internal import Control\n" + result
        }
        return (result, [])
    }

    /// What is wrong with the list itself.
    static func complaints(of mutants: [Mutant], _ exemptions: [Exemption], model: [String])
        -> [Complaint]
    {
        var complaints: [Complaint] = []
        func complain(_ rule: String, _ problem: String) {
            complaints.append(Complaint(rule: rule, file: "the list", problem: problem))
        }
        let rules = mutants.map(\.rule) + exemptions.map(\.rule)
        for rule in Set(rules) where rules.count(where: { $0 == rule }) > 1 {
            complain(rule, "stands there twice")
        }
        for rule in model where !rules.contains(rule) {
            complain(rule, "has neither a mutant nor an exemption")
        }
        for mutant in mutants {
            if mutant.edits.isEmpty { complain(mutant.rule, "changes nothing") }
            if mutant.checks.isEmpty { complain(mutant.rule, "nobody is to notice it") }
            for edit in mutant.edits where !edit.planted.contains("BROKEN") {
                complain(mutant.rule, "cannot be switched: \(edit.planted)")
            }
        }
        for exemption in exemptions where exemption.reason.isEmpty {
            complain(exemption.rule, "is exempt for no reason")
        }
        return complaints
    }
}
