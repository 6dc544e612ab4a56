internal import CEventDescriptor
package import Glibc

/// The maximum number of descriptors that this process may have open.
package enum DescriptorLimit {
    /// The limit with which this process was started.
    private static let initial: rlimit = {
        var limit = rlimit()
        getrlimit(resource, &limit)
        return limit
    }()

    /// `RLIMIT_NOFILE`, whose type differs between the functions that take it.
    private static let number: CInt = 7
    private static let resource = __rlimit_resource_t(UInt32(number))

    /// The limit that applies now.
    package static var current: Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the limit as far as this user may. ``restore(of:)`` undoes this for a child process.
    /// - Parameter maximum: The limit is not raised beyond this.
    package static func raise(to maximum: Int = .max) {
        var limit = initial
        let wanted = min(limit.rlim_max, rlim_t(maximum))
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = wanted
        setrlimit(resource, &limit)
    }

    /// True if this process can open `count` more descriptors now.
    package static func hasRoom(for count: Int) -> Bool {
        var probes: [CInt] = []
        defer { for probe in probes { close(probe) } }
        while probes.count < count {
            let probe = eventfd(0, CInt(EFD_CLOEXEC))
            guard probe >= 0 else { return false }
            probes.append(probe)
        }
        return true
    }

    /// Gives a child process the limit with which this process was started.
    package static func restore(of pid: pid_t) {
        var limit = initial
        _ = setLimit?(pid, number, &limit, nil)
    }

    private typealias SetLimit =
        @convention(c) (pid_t, CInt, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> CInt

    /// prlimit(2), which Swift's Glibc module does not import.
    private static let setLimit = dlsym(nil, "prlimit").map { unsafeBitCast($0, to: SetLimit.self) }
}
