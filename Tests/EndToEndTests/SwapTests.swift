import DeviceKit
import Glibc
import Testing

extension EndToEnd {
    /// Hot swap while calls are in flight.
    @Suite struct Swaps {
        static let swaps = 6

        @Test(arguments: ["echo", "diary"])
        func `swaps under load fail no call and send none again`(word: String) throws {
            let zoo = [Animal(name: "zoo", answers: ["\(word).zoo"])]
            try Instance.with(zoo: zoo, reference: false) { instance in
                let load = try Watch(instance, "Kernel.Load")
                let symbol = "Zoo.\(word).zoo"
                let client = try Visitor(instance, [symbol], window: 64)
                var old = try instance.device("zoo")
                for number in 1...Self.swaps {
                    #expect(try instance.run("restart", "zoo", "--swap").succeeded)
                    let new = try instance.device("zoo")
                    #expect(new.pid != old.pid && new.state == "ready")
                    #expect(new.incarnation == old.incarnation + 1, "swap \(number)")
                    try Wait.until("the old one goes") { !Proc.isAlive(old.pid) }
                    old = new
                }
                let visits = try client.end()
                #expect(visits.failures == [] && visits.wrong == [], "\(visits)")
                #expect(visits.right > 64)
                let flows = Int64(visits.right)
                try load.wait(for: "the last look") { ($0["visits"]?.int ?? 0) >= flows }
                #expect(load.value?["replays"]?.int == 0, "a visit was sent again")
                #expect(load.value?["visits"]?.int == flows, "a visit was sent twice")
            }
        }
    }
}
