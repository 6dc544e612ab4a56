import Glibc
import SystemSupport

/// Identifies a process even after it has ended, when its number may have been given to another process.
package struct ProcessIdentity: Sendable, Codable, Hashable {
    package let pid: Int32
    /// Clock ticks after boot, from `/proc/PID/stat`.
    let startTime: UInt64
    let bootID: String

    /// Nil if there is no such process.
    init?(of pid: pid_t) {
        guard let entry = ProcessTable.entry(of: pid) else { return nil }
        self.pid = pid
        startTime = entry.startTime
        bootID = ProcessTable.bootID
    }

    /// True if this process still runs. A process that has ended but was not reaped does not run.
    package var isAlive: Bool {
        guard bootID == ProcessTable.bootID, let entry = ProcessTable.entry(of: pid) else { return false }
        return entry.isAlive && entry.startTime == startTime
    }

    /// A handle for this process; nil if the process has ended, or if the system cannot open handles. The process is
    /// checked after the handle has been opened, so that the handle cannot mean another process with the same number.
    func open() -> ProcessHandle? {
        guard let handle = ProcessHandle(opening: pid), isAlive else { return nil }
        return handle
    }
}

/// A handle for a process (a pidfd). While the handle is open, it means the same process, even if the kernel gives the
/// process id to another process.
final class ProcessHandle: Sendable {
    private let descriptor: CInt

    /// Nil if glibc is older than 2.36, or if pidfd_open(2) fails, for example because there is no such process.
    init?(opening pid: pid_t) {
        guard let open = Self.openPidfd else { return nil }
        let descriptor = open(pid, 0)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Returns when the process has ended, even if it has not been reaped, or when the task is cancelled.
    func waitForExit() async {
        await DescriptorReadiness.waitForInput(descriptor)
    }

    func send(_ signal: CInt) {
        _ = Self.sendToPidfd?(descriptor, signal, nil, 0)
    }

    // Functions of glibc 2.36 and later that Swift's Glibc module does not import.

    private typealias OpenPidfd = @convention(c) (pid_t, CUnsignedInt) -> CInt
    private typealias SendToPidfd = @convention(c) (CInt, CInt, UnsafeMutableRawPointer?, CUnsignedInt) -> CInt

    private static let openPidfd = dlsym(nil, "pidfd_open").map { unsafeBitCast($0, to: OpenPidfd.self) }
    private static let sendToPidfd = dlsym(nil, "pidfd_send_signal").map { unsafeBitCast($0, to: SendToPidfd.self) }
}
