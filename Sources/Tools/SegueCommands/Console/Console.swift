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

    private struct State {
        var pending: [UInt8] = []
        var isWriting = false
        /// What ended the writing.
        var failure: (any Error)?
        /// Who waits for all to be written.
        var waiting: [CheckedContinuation<Void, any Error>] = []
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

    /// Waits until all is written.
    /// - Throws: `Errno`, `brokenPipe` among them.
    func flush() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let end: Result<Void, any Error>? = state.withLock { state in
                if let failure = state.failure { return .failure(failure) }
                guard state.isWriting else { return .success(()) }
                state.waiting.append(continuation)
                return nil
            }
            if let end { continuation.resume(with: end) }
        }
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
                            if fsync(descriptor.rawValue) != 0 { throw Errno(rawValue: errno) }
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
                return (state.pending as [UInt8]?, [CheckedContinuation<Void, any Error>]())
            }
            defer { state.waiting = [] }
            (state.isWriting, state.failure, state.pending) = (false, failure, [])
            return (nil, state.waiting)
        }
        for continuation in waiting { continuation.resume(with: failure.map(Result.failure) ?? .success(())) }
        return bytes
    }

    func writeLine(_ text: some StringProtocol) async throws {
        try await write("\(text)\n")
    }

    /// Tells a person something, each line marked as this program's. That nobody reads it is no reason to fail.
    func tell(_ lines: [String]) async {
        try? await write(lines.map { $0.hasPrefix("  ") ? "\($0)\n" : "segue: \($0)\n" }.joined())
    }

    func tell(_ line: String) async {
        await tell([line])
    }
}

extension Console {
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

    private func isSet(_ variable: String) -> Bool {
        getenv(variable).map { $0.pointee != 0 } ?? false
    }
}
