import Control
import DeviceKit
import Glibc

// A device whose behaviour is chosen by the arguments in its manifest, see `Behaviour`; or a client
// that calls such devices, see `Visitor`, `Burst` and `Traveller`.
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "--words": print((Behaviour.words + Deed.words).joined(separator: "\n"))
case "burst": Burst.run(Array(words.dropFirst()))
case "travel": Traveller.run(Array(words.dropFirst()))
case "visit": Visitor.run(Array(words.dropFirst()))
default: Behaviour.run(words)
}
