/// A mistake that an implementation might make: one rule of the house switched off.
///
/// Every promise of flows rests on rules that look optional until their absence loses or doubles
/// work. Each is broken here in a copy of the sources, and a named check must notice: the seeds of
/// the simulation, or an aimed test. So the checks are themselves tested.
struct Mutant: Sendable {
    /// A place in the sources, and what stands there in the copy. `BROKEN` in the new text is true
    /// while this rule is switched off.
    struct Edit: Sendable {
        var file: String
        /// Stands in the file exactly once.
        var text: String
        var planted: String

        init(_ file: String, _ text: String, _ planted: String) {
            self.file = file
            self.text = text
            self.planted = planted
        }
    }

    enum Check: Sendable, Equatable {
        /// The simulation finds a breach within the first 500 seeds.
        case seeds
        /// An aimed test fails: its target and its name.
        case test(String, String)
    }

    /// As the model of flows names it, or a name of our own for what only the hub has.
    var rule: String
    /// What holds while nobody breaks it.
    var holds: String
    var edits: [Edit]
    /// Every one must notice.
    var checks: [Check]

    init(_ rule: String, _ holds: String, _ edits: [Edit], _ checks: [Check] = [.seeds]) {
        self.rule = rule
        self.holds = holds
        self.edits = edits
        self.checks = checks
    }
}

/// A rule of the model that has no counterpart yet, and why.
struct Exemption: Sendable {
    var rule: String
    var reason: String
}

/// The list.
enum Catalogue {
    static let all =
        answers + keys + endings + visits + seats + supervision + limits + channels + bytes

    static let exemptions: [Exemption] = []

    /// The rules of the executable model of flows: each has a mutant or an exemption.
    static let model = [
        // What the first design left open.
        "answer_order", "one_answer", "judge_at_park", "any_effect", "publish_digest", "step_keys",
        "branch_keys", "own_key_is_root", "page_counts", "check_in_transaction", "pin_reads",
        "commit_base", "waiting_is_free", "outside_is_free", "own_cell", "cancelled_counts",
        "finally_deadline", "divert_finally", "settle_first", "replay_has_room", "event_waits",
        // Mistakes that an implementation may make.
        "key_check", "wait_for_reap", "match_by_name", "once_is_once", "keep_live_keys",
        "drop_stale", "join_in_flight", "cancel_siblings", "finally_on_failure", "commit_once",
        "record_reads", "fixed_now", "lane_in_order", "free_records", "tell_once",
        "replay_unstarted_once", "cancel_children",
    ]
}
