// Random bytes, and mutated frames, into everything that reads what a peer has sent. Nothing may
// trap: a run that comes to its end has found nothing.
//
//     frame-fuzz [seeds] [first seed]

let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let count = arguments.first ?? 1_000
let first = arguments.dropFirst().first ?? 0

var total = Fuzz.Result()
for seed in first..<(first &+ count) { total += Fuzz(seed: seed).run() }
print(
    "\(count) seeds from \(first): \(total.messages) messages read, \(total.refused) refused, "
        + "\(total.cables) cables ended, \(total.frames) frames handled")
