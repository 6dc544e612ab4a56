import Dispatch
import Glibc
import Synchronization

/// Lists the processes of this machine, each with its ``ProcessTag``.
///
/// `/proc` is read on a thread that may block. Calls that come while it is read share the next reading.
final class ProcessCensus: Sendable {
    static let shared = ProcessCensus()

    struct Member: Sendable {
        let entry: ProcessTable.Entry
        let tag: ProcessTag?
    }

    private let queue = DispatchQueue(label: "processes")
    private let waiting = Mutex<[CheckedContinuation<[Member], Never>]>([])

    /// All living processes except this one. The tag is nil if the process has none or its environment cannot be read.
    func members() async -> [Member] {
        await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                waiting.append(continuation)
                return waiting.count == 1
            }
            if isFirst { queue.async { self.read() } }
        }
    }

    /// The living processes of one session.
    func members(ofSession session: pid_t) async -> [ProcessTable.Entry] {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: ProcessTable.entries(ofSession: session).filter(\.isAlive)) }
        }
    }

    private func read() {
        let callers = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        let members = ProcessTable.entries().filter { $0.isAlive && $0.pid != getpid() }.map { entry in
            Member(entry: entry, tag: Self.tag(of: entry))
        }
        for caller in callers { caller.resume(returning: members) }
    }

    private static func tag(of entry: ProcessTable.Entry) -> ProcessTag? {
        // While a process executes a new program, its environment and its command line are empty for a moment. The
        // number of attempts has a limit, because both are also empty if a process has cleared them.
        for _ in 0..<20 {
            if let tag = ProcessTable.variable(ProcessTag.variable, of: entry.pid) { return ProcessTag(tag) }
            guard ProcessTable.isExecuting(entry) else { return nil }
            usleep(1000)
        }
        return nil
    }
}
