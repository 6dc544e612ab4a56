import SystemSupport

extension Roster {
    /// The descriptors that a supervisor needs besides those of its instances.
    private static let base = 64
    /// The descriptors that an instance needs: its pipes, log, sockets and handles, with some to spare.
    private static let each = 12
    /// The descriptors that one run of a health check needs.
    private static let eachProbe = 6

    /// Checks that this process may open enough descriptors for the wanted instances.
    /// - Throws: ``ComposeError`` `too-many-instances` if it may not.
    func checkDescriptors() throws(ComposeError) {
        let probed = Set(stack.services.filter(\.hasProbe).map(\.name))
        let wanted = status.services.filter(\.order.isWanted)
        let needed =
            Self.base + Self.each * wanted.count + Self.eachProbe * wanted.count { probed.contains($0.service) }
        let limit = DescriptorLimit.current
        guard limit < needed else { return }
        throw ComposeError(
            code: "too-many-instances",
            message: "\(wanted.count) instances need about \(needed) open files, but \(limit) are allowed",
            recovery: "start fewer instances, or raise the limit with 'ulimit -n \(needed)'")
    }
}

extension Service {
    fileprivate var hasProbe: Bool {
        if case .probe = readiness { true } else { false }
    }
}
