import DeviceKit

/// A device with the same work twice: as a route that the kernel drives, and as a handler that
/// calls.
enum Circuit {
    static let stages = 16
    static let route = Symbol<[UInt8], [UInt8]>("Bench.route", .replayable)
    static let calls = Symbol<[UInt8], [UInt8]>("Bench.calls", .replayable)

    static func serve() -> Never {
        Device.serve { device in
            var builder = pipeline([UInt8].self)
            for _ in 0..<stages { builder = builder.pipe(Echo.symbol) }
            device.bind(route, to: builder.seal())
            device.bind(calls) { kernel, bytes in
                var value = bytes
                for _ in 0..<stages { value = try await kernel.call(Echo.symbol, value) }
                return value
            }
        }
    }
}

/// `pipeline`: a route of 16 remote stages beside 16 calls from the device, interleaved.
@LoopActor
enum Pipeline {
    static func run(_ instance: Instance) async throws {
        var routes: [UInt64] = []
        var calls: [UInt64] = []
        var ratios: [Double] = []
        for round in 0..<9 {
            let route = try await median(instance, Circuit.route)
            let call = try await median(instance, Circuit.calls)
            // The first round warms both up.
            guard round > 0 else { continue }
            routes.append(route)
            calls.append(call)
            ratios.append(Double(route) / Double(call))
        }
        ratios.sort()
        print(
            "pipeline of \(Circuit.stages) stages, 64 B: route "
                + "\(Bench.quantile(routes.sorted(), 0.5)) ns, calls "
                + "\(Bench.quantile(calls.sorted(), 0.5)) ns, "
                + "ratio median \(two(ratios[ratios.count / 2])) (at most 0.65)")
    }

    private static func median(
        _ instance: Instance, _ symbol: Symbol<[UInt8], [UInt8]>
    ) async throws -> UInt64 {
        var times: [UInt64] = []
        let payload = [UInt8](repeating: 0x78, count: 64)
        for _ in 0..<1_000 {
            let before = Bench.now
            let reply = try await instance.kernel.call(symbol, payload)
            times.append(Bench.now - before)
            guard reply == payload else {
                throw KernelError(.failed, "\(symbol.name) gave something else")
            }
        }
        return Bench.quantile(times.sorted(), 0.5)
    }
}
