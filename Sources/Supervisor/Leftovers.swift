// What a kernel leaves behind that was itself ended by SIGKILL: its devices end with it, for they
// hold its life lines, but a helper that has left its device's group does not.

internal import CLinux
internal import Glibc
internal import Installation
internal import UnixSocket

/// Ends what dead kernels left behind.
package enum Leftovers {
    /// What was ended.
    package struct Ended: Equatable, Sendable {
        package var pid: Int32
        package var device: String
    }

    /// The rounds in which it is looked for what the last ones have started meanwhile.
    private static let rounds = 8
    /// Milliseconds that are waited for the end of one.
    private static let patience: Int32 = 250

    /// Ends the processes of this user that come from a device with these data and have no kernel
    /// any more. The caller holds the lock of the data, so no kernel that lives uses them.
    /// - Parameter kernel: the name of the kernel's program.
    package static func end(data: String, kernel: String) -> [Ended] {
        var all: [Ended] = []
        for _ in 0..<rounds {
            let found = ProcessTable.devices(data: data).filter { process in
                ProcessTable.user(of: process.pid) == geteuid()
                    && !ProcessTable.ancestors(of: process.pid).contains {
                        ProcessTable.runs(kernel, $0)
                    }
            }
            guard !found.isEmpty else { break }
            for process in found where end(process, data) {
                let ended = Ended(pid: process.pid, device: process.device)
                if !all.contains(ended) { all.append(ended) }
            }
        }
        return all
    }

    /// - Returns: whether it was killed.
    private static func end(_ process: ProcessTable.Process, _ data: String) -> Bool {
        let number = clx_pidfd_open(process.pid)
        guard number >= 0 else { return false }
        let handle = OwnedDescriptor(owning: number)
        // The handle is of this very process only if what was seen is still true now.
        guard ProcessTable.origin(of: process.pid)?.data == data,
            clx_pidfd_send_signal(handle.number, SIGKILL) == 0
        else { return false }
        var end = pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)
        poll(&end, 1, patience)
        return true
    }
}
