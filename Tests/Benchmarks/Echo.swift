import DeviceKit

/// What is measured: bytes that come back, through an ordinary replayable symbol.
enum Echo {
    static let symbol = Symbol<[UInt8], [UInt8]>(
        "Bench.echo", .replayable.summary("returns its payload"))

    /// The device's side.
    static func serve() -> Never {
        Device.serve { device in
            device.bind(symbol, pure: { bytes in bytes })
        }
    }
}
