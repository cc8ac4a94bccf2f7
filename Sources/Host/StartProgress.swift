import Supervisor

/// How far the start of all devices has come.
struct StartProgress {
    private var wereReady: Set<String> = []

    /// A device has come into a state.
    mutating func note(_ name: String, _ state: DeviceState) {
        switch state {
        case .ready, .done: wereReady.insert(name)
        case .failed: wereReady.remove(name)
        default: break
        }
    }

    /// Whether the start waits for the device. One that was ready has started, whatever became of
    /// it since; one that the operator has stopped was not to start.
    func waits(for name: String, in state: DeviceState?) -> Bool {
        state != .stopped && !wereReady.contains(name)
    }
}
