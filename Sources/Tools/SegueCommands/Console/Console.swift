internal import Dispatch
internal import Glibc
internal import Support
internal import Synchronization
internal import SystemPackage

/// Standard output, standard error, or a file that a command writes to. All that `segue` writes passes through a console.
///
/// On a terminal, control characters in text and data are made visible, see ``TerminalText``. Elsewhere, text and data are
/// written as they are.
///
/// A write can block, so the console writes on its own dispatch queue. Bytes that are appended during a write are
/// written together after this write; elsewhere than on a terminal, a write also waits a millisecond for more bytes.
final class Console: Sendable {
    static let output = Console(.standardOutput)
    static let error = Console(.standardError)

    /// The maximum number of unwritten bytes. If there are more, ``append(_:)`` waits until all are written.
    private static let capacity = 256 * 1024
    /// The time that a write to anything but a terminal waits for more bytes.
    private static let delay: DispatchTimeInterval = .milliseconds(1)
    /// The maximum time for which ``flush()`` waits after its task is cancelled. Then unwritten bytes are discarded.
    private static let patience: DispatchTimeInterval = .seconds(2)

    private struct State {
        var pending: [UInt8] = []
        var isWriting = false
        /// The first error of a write, or `Errno.canceled` after ``giveUp(_:)``. No further write begins after an
        /// error. Nil if there was no error.
        var failure: (any Error)?
        /// The calls of ``flush()`` that wait, by their numbers.
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastWait = 0
    }

    let descriptor: FileDescriptor
    let isTerminal: Bool
    private let queue: DispatchQueue
    private let state = Mutex(State())

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor.rawValue) == 1
        queue = DispatchQueue(label: "console-\(descriptor.rawValue)")
    }

    /// Queues bytes to be written soon. If more than 256 KiB are queued, waits until all are written. Call ``flush()``
    /// before the process ends.
    /// - Throws: the `Errno` of an earlier write, such as `brokenPipe`.
    func append(_ bytes: [UInt8]) async throws {
        try await enqueue(isTerminal ? Array(TerminalText(String(decoding: bytes, as: UTF8.self)).utf8) : bytes)
    }

    /// Queues a text to be written soon, as it is. Otherwise as ``append(_:)``.
    func append(_ text: TerminalText) async throws {
        try await enqueue(Array(text.utf8))
    }

    private func enqueue(_ bytes: [UInt8]) async throws {
        let (isFirst, isFull) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.pending.append(contentsOf: bytes)
            defer { state.isWriting = true }
            return (!state.isWriting, state.pending.count > Self.capacity)
        }
        if isFirst { queue.asyncAfter(deadline: isTerminal ? .now() : .now() + Self.delay) { self.writePending() } }
        if isFull { try await flush() }
    }

    /// Waits until all queued bytes are written. After a cancellation of the task it waits at most two seconds longer.
    /// - Throws: the `Errno` of a write, such as `brokenPipe`; `Errno.canceled` if unwritten bytes are left after these
    ///   two seconds.
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
                if let end { return continuation.resume(with: end) }
                queue.async { self.writePending() }
            }
        } onCancel: {
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { self.giveUp(wait) }
        }
    }

    /// Discards all queued bytes and ends all waits, unless the wait with this number has ended already. A write that
    /// is blocked is not stopped.
    private func giveUp(_ wait: Int) {
        let waiting = state.withLock { state in
            guard state.waiting[wait] != nil else { return [Int: CheckedContinuation<Void, any Error>]() }
            defer { state.waiting = [:] }
            (state.failure, state.pending) = (Errno.canceled, [])
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(throwing: Errno.canceled) }
    }

    /// Writes a string and waits until it is written.
    /// - Throws: as ``flush()``.
    func write(_ text: String) async throws {
        try await append(Array(text.utf8))
        try await flush()
    }

    /// Writes a text with control sequences of this program, and waits until it is written.
    /// - Throws: as ``flush()``.
    func draw(_ text: TerminalText) async throws {
        try await append(text)
        try await flush()
    }

    /// Writes all queued bytes to the disk and closes the file. The console must not be used afterwards.
    /// - Throws: `Errno`.
    func closeOnDisk() async throws {
        try await flush()
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [descriptor] in
                continuation.resume(
                    with: Result {
                        try descriptor.closeAfter {
                            // fsync(2) reports EINVAL or EROFS for a pipe or a device, which is not on a disk.
                            guard fsync(descriptor.rawValue) != 0, errno != EINVAL, errno != EROFS else { return }
                            throw Errno(rawValue: errno)
                        }
                    })
            }
        }
    }

    /// Writes until nothing is queued. Runs on `queue`.
    private func writePending() {
        var failure: (any Error)?
        while let bytes = drainPending(failure) {
            do { _ = try descriptor.writeAll(bytes) } catch { failure = error }
        }
    }

    /// Removes the queued bytes. If there are none, or the last write failed, ends all waits.
    /// - Returns: the bytes to write next; nil if there are none or the last write failed.
    private func drainPending(_ failure: (any Error)?) -> [UInt8]? {
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

    /// Runs `action` after the bytes that are queued now are written. The console itself writes nothing while `action`
    /// runs.
    func perform(_ action: @escaping @Sendable () -> Void) {
        queue.async {
            self.writePending()
            action()
        }
    }

    func writeLine(_ text: some StringProtocol) async throws {
        try await write("\(text)\n")
    }

    func writeLines(_ lines: [String]) async throws {
        try await write(lines.map { "\($0)\n" }.joined())
    }

    /// Writes messages for a person, each on one line after `segue: `; a line that begins with two spaces continues the
    /// line before it and has no prefix. A failed write is ignored.
    func tell(_ lines: [String]) async {
        try? await draw(lines.map { $0.begins(with: "  ") ? "\($0)\n" : "segue: \($0)\n" }.joined())
    }

    func tell(_ line: String) async {
        await tell([line])
    }

    /// True for a terminal, unless `NO_COLOR` is set and not empty (no-color.org), or `TERM` is `dumb`.
    var isColored: Bool {
        isTerminal && !isSet("NO_COLOR") && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// The present size of the terminal, in characters. Nil if this is not a terminal, or if its size is not known.
    var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The present width of the terminal, in characters. Nil if this is not a terminal, or if its size is not known.
    var columns: Int? { size?.columns }

    /// All lines, if the terminal has room for them; otherwise the first lines, and a line with the number of the
    /// others.
    /// - Parameter others: the number of lines that are printed below the result.
    func fitting(_ lines: [TerminalText], above others: Int = 0) -> [TerminalText] {
        let room = max(1, (size?.rows ?? .max) - 1 - others)
        guard lines.count > room else { return lines }
        return lines.prefix(room - 1) + ["… \(lines.count - room + 1) lines more"]
    }

    private func isSet(_ variable: String) -> Bool {
        getenv(variable).map { $0.pointee != 0 } ?? false
    }

    /// Runs `body` until it ends, or until this stream has no reader any more. So in `segue monitor | head -1`, the
    /// monitor ends when `head` ends.
    ///
    /// - Throws: `Errno.brokenPipe`; the errors of `body`.
    func whileRead(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.waitForBrokenPipe() }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits until the other side of the stream is closed, such as a pipe without a reader.
    ///
    /// Returns when the task is cancelled.
    /// - Throws: `Errno.brokenPipe`.
    func waitForBrokenPipe() async throws {
        if try await descriptor.wait(for: 0) { throw Errno.brokenPipe }
    }
}

extension FileDescriptor {
    /// Waits with poll(2), on a dispatch queue of its own, for one of the events, for an error, or until the other side
    /// is closed.
    ///
    /// - Returns: false if the task was cancelled first.
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
