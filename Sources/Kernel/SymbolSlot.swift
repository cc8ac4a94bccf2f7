package import Control

/// A symbol as the hub knows it: who answers, and how.
package final class SymbolSlot {
    package let name: String
    let id: Int
    /// Who answers; nil for the kernel's own symbols.
    package let device: DeviceSlot?
    /// The kernel's own answer.
    var builtin: (([UInt8]) -> Result<[UInt8], KernelError>)?
    /// The kernel's own answer to a client, about its connection.
    var personal: ((Peer, [UInt8]) -> Result<[UInt8], KernelError>)?
    /// Whether it only reads, so that a client that looks at the past may call it.
    var onlyReads = false
    /// As announced by the device; the defaults until then.
    package internal(set) var traits = Traits()
    /// The shapes of payload and output, as announced.
    package internal(set) var takes = ""
    package internal(set) var gives = ""
    /// Whether the device has announced how it answers.
    var known = false
    /// The question that runs the pipe of which this is a closure; nil for every announced symbol.
    let home: Home?
    /// What a flow of this symbol runs along; nil for a closure, which none begins with.
    var route: Route?

    /// Where the code of a closure is that a handler made at run time.
    struct Home {
        let flow: Flow
        let entry: Entry
    }

    init(name: String, id: Int, device: DeviceSlot?, home: Home? = nil) {
        self.home = home
        self.name = name
        self.id = id
        self.device = device
    }

    /// What the traits say, or what the device's wall says for them.
    var replay: Traits.Replay {
        traits.replay ?? (device?.pure == true ? .replayable : .once)
    }
}
