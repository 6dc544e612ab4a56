import Glibc

/// A process that can be recognised later: its number alone may have been given to another one meanwhile.
package struct ProcessIdentity: Sendable, Codable, Hashable {
    package let pid: Int32
    /// Clock ticks after boot, from `/proc/PID/stat`.
    package let startTime: UInt64
    package let bootID: String

    /// - Returns: `nil` when there is no such process.
    init?(of pid: pid_t) {
        guard let entry = ProcessTable.entry(of: pid) else { return nil }
        self.pid = pid
        startTime = entry.startTime
        bootID = ProcessTable.bootID
    }

    /// Whether this very process runs; one that has ended and was not reaped does not.
    package var isAlive: Bool {
        guard bootID == ProcessTable.bootID, let entry = ProcessTable.entry(of: pid) else { return false }
        return entry.isAlive && entry.startTime == startTime
    }

    /// A handle on this very process: the number is checked again once the handle is open.
    func open() -> ProcessHandle? {
        guard let handle = ProcessHandle(opening: pid), isAlive else { return nil }
        return handle
    }
}
