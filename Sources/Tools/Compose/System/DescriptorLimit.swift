import Glibc

/// The maximum number of descriptors that this process may have open.
enum DescriptorLimit {
    /// The descriptors that a supervisor needs besides those of its instances.
    private static let base = 64
    /// The descriptors that an instance needs: its pipes, log, sockets and handles, with some to spare.
    private static let each = 12
    /// The descriptors that one run of a health check needs.
    private static let eachProbe = 6

    /// The limit with which this process was started.
    private static let initial: rlimit = {
        var limit = rlimit()
        getrlimit(resource, &limit)
        return limit
    }()

    /// `RLIMIT_NOFILE`, whose type differs between the functions that take it.
    private static let number: CInt = 7
    private static let resource = __rlimit_resource_t(UInt32(number))

    /// Raises the limit as far as this user may. ``restore(of:)`` undoes this for a child process.
    static func raise() {
        var limit = initial
        guard limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }

    /// Gives a child process the limit with which this process was started.
    static func restore(of pid: pid_t) {
        var limit = initial
        _ = setLimit?(pid, number, &limit, nil)
    }

    /// - Throws: ``ComposeError`` `too-many-instances` if the limit is too low for the wanted instances.
    static func check(_ roster: Roster) throws(ComposeError) {
        let probed = Set(roster.stack.services.filter(\.hasProbe).map(\.name))
        let wanted = roster.status.services.filter(\.order.isWanted)
        let needed = base + each * wanted.count + eachProbe * wanted.count { probed.contains($0.service) }
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(needed) else { return }
        throw ComposeError(
            code: "too-many-instances",
            message: "\(wanted.count) instances need about \(needed) open files, but \(limit.rlim_cur) are allowed",
            recovery: "start fewer instances, or raise the limit with 'ulimit -n \(needed)'")
    }

    private typealias SetLimit =
        @convention(c) (pid_t, CInt, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> CInt

    /// prlimit(2), which Swift's Glibc module does not import.
    private static let setLimit = dlsym(nil, "prlimit").map { unsafeBitCast($0, to: SetLimit.self) }
}

extension Service {
    fileprivate var hasProbe: Bool {
        if case .probe = readiness { true } else { false }
    }
}
