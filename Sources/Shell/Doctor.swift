import DeviceKit
import Installation

@LoopActor
enum Doctor {
    static func run(_ arguments: Arguments) async throws -> Int32 { 0 }
}
