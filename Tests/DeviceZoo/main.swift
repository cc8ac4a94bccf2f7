import Control
import DeviceKit
import Glibc

// A device whose behaviour is chosen by the arguments in its manifest: see `Behaviour`.
Behaviour.run(Array(CommandLine.arguments.dropFirst()))
