import Glibc

/// Runs seeds one after the other and stops at the first that breaks; `--trace SEED` prints a run.
@main
enum Sweep {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        if words.first == "--trace", let seed = words.last.flatMap({ UInt64($0) }) {
            let world = try World(seed: seed)
            let breach = world.run()
            for line in world.trace { print(line) }
            return print(breach ?? "all promises kept")
        }
        let count = words.first.flatMap { Int($0) } ?? 500
        for seed in 0..<count {
            if let breach = try World(seed: UInt64(seed)).run() {
                print("\(seed + 1)\t\(breach)")
                exit(1)
            }
        }
        print("\(count)\t")
    }
}
