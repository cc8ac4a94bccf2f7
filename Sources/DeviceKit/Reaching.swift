internal import Control
internal import UnixSocket

extension KernelError {
    /// Why the kernel of an instance cannot be reached, with one advice.
    init(reaching instance: String, _ error: SocketError) {
        var message = error.description
        if error.code == .notServed {
            var reason = error
            reason.advice = nil
            // The variable that names the instance here may be unset where the advice is taken.
            let isMain = instance == "main" && Program.instance == "main"
            let name = isMain ? "" : " --name \(instance)"
            message =
                "no kernel named \(instance) runs: start it with `concentric up\(name)` "
                + "(\(reason))"
        }
        self.init(.unavailable, message, outcome: .none, retry: true)
    }
}
