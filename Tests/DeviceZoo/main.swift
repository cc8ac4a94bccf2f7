import Control
import DeviceKit
import Glibc

// A device whose behaviour is chosen by the arguments in its manifest, see `Behaviour`; or a client
// that calls such devices, see `Visitor`, or watches them, see `Crowd`.
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "--words": print((Behaviour.words + Deed.words).joined(separator: "\n"))
case "crowd", "stumble": Crowd.run(words)
case "visit": Visitor.run(Array(words.dropFirst()))
default: Behaviour.run(words)
}
