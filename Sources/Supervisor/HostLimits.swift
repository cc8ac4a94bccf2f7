internal import CLinux
package import Installation

/// What the kernel changes about its own process before it has children, once.
enum HostLimits {
    struct Descriptors: Sendable {
        var soft: UInt64
        var hard: UInt64
    }

    /// The limits of descriptors as the kernel was started with, which its children get back; it
    /// takes all that it may have for itself. Nil if the system does not say.
    static let inherited: Descriptors? = {
        clx_keep_children()
        var limits = Descriptors(soft: 0, hard: 0)
        let result = clx_raise_nofile(&limits.soft, &limits.hard)
        return result == 0 || limits.hard > 0 ? limits : nil
    }()
}

extension DescriptorLimits {
    /// The descriptors that this process may have; the soft limit is raised to the hard one.
    package static var available: Int {
        HostLimits.inherited.map { Int(clamping: $0.hard) } ?? 1_024
    }
}
