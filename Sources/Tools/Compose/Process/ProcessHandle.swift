import Glibc

/// A process by pidfd, which means the same process for as long as it is open, whatever becomes of its number.
final class ProcessHandle: Sendable {
    private let descriptor: CInt

    /// - Returns: `nil` when there is no such process (or, on a kernel before 5.3, no such call).
    init?(opening pid: pid_t) {
        guard let open = GNUCalls.openPidfd else { return nil }
        let descriptor = open(pid, 0)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Returns when the process has ended, reaped or not, or when the task is cancelled.
    func waitForExit() async {
        await Readability.wait(for: descriptor)
    }

    func send(_ signal: CInt) {
        _ = GNUCalls.sendToPidfd?(descriptor, signal, nil, 0)
    }
}
