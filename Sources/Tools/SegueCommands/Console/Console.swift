internal import Dispatch
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// One of the streams a command writes to.
///
/// A terminal may be stopped, a pipe be full: writing waits on a thread of its own, and never on one that tasks share. What
/// comes while that thread writes is written after it in one piece: each line at once when there are few, many at a time
/// when there are many.
final class Console: Sendable {
    static let output = Console(.standardOutput)
    static let error = Console(.standardError)

    /// Bytes that wait to be written before ``append(_:)`` waits, too.
    private static let capacity = 256 * 1024
    /// How long a task that is to end still waits for whoever does not read.
    private static let patience: DispatchTimeInterval = .seconds(2)

    private struct State {
        var pending: [UInt8] = []
        var isWriting = false
        /// What ended the writing.
        var failure: (any Error)?
        /// Who waits for all to be written. Each wait has a number: a cancellation that comes late must not end the next one.
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastWait = 0
    }

    let descriptor: FileDescriptor
    private let queue: DispatchQueue
    private let state = Mutex(State())

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
        queue = DispatchQueue(label: "console-\(descriptor.rawValue)")
    }

    /// Writes soon; waits only if that falls behind. ``flush()`` has to follow before the process ends.
    /// - Throws: `Errno` of an earlier piece, `brokenPipe` among them.
    func append(_ bytes: some Sequence<UInt8>) async throws {
        let (isFirst, isFull) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.pending.append(contentsOf: bytes)
            defer { state.isWriting = true }
            return (!state.isWriting, state.pending.count > Self.capacity)
        }
        if isFirst { queue.async { self.writePending() } }
        if isFull { try await flush() }
    }

    /// Waits until all is written. When the task is cancelled it waits a moment longer: a full pipe that nobody reads must
    /// not keep a command from ending.
    /// - Throws: `Errno`, `brokenPipe` among them; `canceled` when it has given up.
    func flush() async throws {
        let wait = state.withLock { state in
            state.lastWait += 1
            return state.lastWait
        }
        try await withTaskCancellationHandler { [self] in
            try await withCheckedThrowingContinuation { continuation in
                let end: Result<Void, any Error>? = state.withLock { state in
                    if let failure = state.failure { return .failure(failure) }
                    guard state.isWriting else { return .success(()) }
                    state.waiting[wait] = continuation
                    return nil
                }
                if let end { continuation.resume(with: end) }
            }
        } onCancel: {
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { self.giveUp(wait) }
        }
    }

    /// Nothing is written any more; the thread that is at it is left behind.
    private func giveUp(_ wait: Int) {
        let waiting = state.withLock { state in
            guard state.waiting[wait] != nil else { return [Int: CheckedContinuation<Void, any Error>]() }
            defer { state.waiting = [:] }
            (state.failure, state.pending) = (Errno.canceled, [])
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(throwing: Errno.canceled) }
    }

    /// - Throws: `Errno`, `brokenPipe` among them.
    func write(_ text: String) async throws {
        try await append(text.utf8)
        try await flush()
    }

    /// Closes a file once all of it is on the disk; nothing may be written to it any more.
    /// - Throws: `Errno`.
    func closeOnDisk() async throws {
        try await flush()
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [descriptor] in
                continuation.resume(
                    with: Result {
                        try descriptor.closeAfter {
                            // A pipe or a device has no disk: fsync(2).
                            guard fsync(descriptor.rawValue) != 0, errno != EINVAL, errno != EROFS else { return }
                            throw Errno(rawValue: errno)
                        }
                    })
            }
        }
    }

    /// On the console's thread.
    private func writePending() {
        var failure: (any Error)?
        while let bytes = takePending(failure) {
            do { _ = try descriptor.writeAll(bytes) } catch { failure = error }
        }
    }

    /// - Returns: what is to be written next; `nil` at the end, of which whoever waits is told.
    private func takePending(_ failure: (any Error)?) -> [UInt8]? {
        let (bytes, waiting) = state.withLock { state in
            guard failure != nil || state.pending.isEmpty else {
                defer { state.pending = [] }
                return (state.pending as [UInt8]?, [Int: CheckedContinuation<Void, any Error>]())
            }
            defer { state.waiting = [:] }
            (state.isWriting, state.failure, state.pending) = (false, state.failure ?? failure, [])
            return (nil, state.waiting)
        }
        for continuation in waiting.values { continuation.resume(with: failure.map(Result.failure) ?? .success(())) }
        return bytes
    }

    /// Has the console's thread do something between what is written before and what is written later.
    func perform(_ action: @escaping @Sendable () -> Void) {
        queue.async(execute: action)
    }

    func writeLine(_ text: some StringProtocol) async throws {
        try await write("\(text)\n")
    }

    func writeLines(_ lines: [String]) async throws {
        try await write(lines.map { "\($0)\n" }.joined())
    }

    /// Tells a person something, each line marked as this program's. That nobody reads it is no reason to fail.
    func tell(_ lines: [String]) async {
        try? await write(lines.map { $0.hasPrefix("  ") ? "\($0)\n" : "segue: \($0)\n" }.joined())
    }

    func tell(_ line: String) async {
        await tell([line])
    }

    var isTerminal: Bool { isatty(descriptor.rawValue) == 1 }

    /// Whether to write in colour unless told: to a terminal that can, unless its user does not want it (no-color.org).
    var isColored: Bool {
        isTerminal && !isSet("NO_COLOR") && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// How large the terminal is now; `nil` where there is none.
    var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// How wide the terminal is now; `nil` where there is none to cut a line for.
    var columns: Int? { size?.columns }

    /// What fits the terminal: a line that scrolls away could not be drawn again.
    /// - Parameter others: how many lines stand below these.
    func fitting(_ lines: [String], above others: Int = 0) -> [String] {
        let room = max(1, (size?.rows ?? .max) - 1 - others)
        guard lines.count > room else { return lines }
        return lines.prefix(room - 1) + ["… \(lines.count - room + 1) lines more"]
    }

    private func isSet(_ variable: String) -> Bool {
        getenv(variable).map { $0.pointee != 0 } ?? false
    }

    /// Runs `body` until it ends, or until nobody reads what is written here any more: in `segue monitor | head -1`,
    /// a monitor that has nothing to write would never notice.
    ///
    /// - Throws: `Errno.brokenPipe`, and what `body` throws.
    func whileRead(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.waitForBrokenPipe() }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits with poll(2), which reports a pipe without a reader unasked.
    ///
    /// Returns when the task is cancelled.
    /// - Throws: `Errno.brokenPipe`.
    func waitForBrokenPipe() async throws {
        if try await descriptor.wait(for: 0) { throw Errno.brokenPipe }
    }
}

extension FileDescriptor {
    /// Waits on a thread of its own, with poll(2), for one of these events, for an error or for the other side's going.
    ///
    /// - Returns: false when the task was cancelled first.
    func wait(for events: Int32) async throws -> Bool {
        let cancellation = try FileDescriptor.pipe()
        defer {
            try? cancellation.readEnd.close()
            try? cancellation.writeEnd.close()
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                DispatchQueue(label: "descriptor-\(rawValue)").async {
                    var watched = [
                        pollfd(fd: rawValue, events: Int16(events), revents: 0),
                        pollfd(fd: cancellation.readEnd.rawValue, events: Int16(POLLIN), revents: 0),
                    ]
                    while poll(&watched, nfds_t(watched.count), -1) < 0, errno == EINTR {}
                    continuation.resume(returning: watched[0].revents != 0)
                }
            }
        } onCancel: {
            _ = try? cancellation.writeEnd.writeAll([0])
        }
    }
}
