import Control
import DeviceKit
import Glibc

// A device whose behaviour is chosen by the arguments in its manifest, see `Behaviour`; or a client
// that calls such devices, see `Visitor`, `Burst` and `Traveller`, watches them, see `Crowd` and
// `Observer`, follows their books, see `Shelves`, or reads their channel, see `Listener`; or what
// stands between clients and a kernel, see `Proxy`.
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "--words": print((Behaviour.words + Deed.words).joined(separator: "\n"))
case "crowd", "stumble": Crowd.run(words)
case "observe": Observer.run(words)
case "burst": Burst.run(Array(words.dropFirst()))
case "travel": Traveller.run(Array(words.dropFirst()))
case "visit": Visitor.run(Array(words.dropFirst()))
case "listen": Listener.run(Array(words.dropFirst()))
case "shelf": Shelves.run()
case "proxy": Proxy.run(Array(words.dropFirst()))
default: Behaviour.run(words)
}
