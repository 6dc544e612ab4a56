internal import Glibc
internal import SystemSupport

/// The counts of the lines in the histories so far, and the tasks that wait for more.
actor Progress {
    private let watch: DirectoryWatch
    private var tails: [(name: String, tail: HistoryTail)] = []
    private var counts: [String: Counts] = [:]
    private var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    private var lastWatcher = 0

    init(directory: String) throws {
        watch = try DirectoryWatch(path: directory)
    }

    /// Watches the files until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            _ = await watch.wait()
            check()
        }
    }

    func follow(_ name: String, path: String) throws {
        tails.append((name, try HistoryTail(path: path)))
    }

    /// Stops counting the lines of a process that has ended, after counting them a last time.
    func unfollow(_ name: String) {
        check()
        tails.removeAll { $0.name == name }
    }

    func current() -> [String: Counts] { counts }

    /// The number of handled and delivered messages of all processes.
    var total: Int { counts.values.reduce(0) { $0 + $1.handled + $1.delivered } }

    /// Waits until the counts satisfy a condition. The condition is checked whenever a file has changed.
    func until(_ fits: @Sendable ([String: Counts]) throws -> Bool) async throws {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        lastWatcher += 1
        let watcher = lastWatcher
        watchers[watcher] = continuation
        defer { watchers[watcher] = nil }
        check()
        if try fits(counts) { return }
        for await _ in changes {
            if try fits(counts) { return }
        }
        throw CancellationError()
    }

    /// Reads the files, and lets all waiting tasks check their condition.
    func check() {
        for (name, tail) in tails {
            tail.count(into: &counts[name, default: Counts()])
        }
        for watcher in watchers.values { watcher.yield() }
    }
}

/// The number of lines of each kind in the history of a process.
package struct Counts: Hashable, Sendable {
    package var invoked = 0
    package var acknowledged = 0
    package var delivered = 0
    package var handled = 0
    package var live = 0

    /// - Parameter line: The first byte of a line. Each kind begins with a different letter.
    mutating func count(_ line: UInt8) {
        switch line {
        case UInt8(ascii: "i"): invoked += 1
        case UInt8(ascii: "a"): acknowledged += 1
        case UInt8(ascii: "d"): delivered += 1
        case UInt8(ascii: "h"): handled += 1
        case UInt8(ascii: "l"): live += 1
        default: break
        }
    }
}

/// Counts the lines of a history while it grows.
final class HistoryTail: Sendable {
    private let descriptor: CInt

    /// - Throws: ``HistoryError`` if the file cannot be read.
    init(path: String) throws {
        // Creates the file if its writer has not created it yet.
        descriptor = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HistoryError(path: path, reason: String(cString: strerror(errno))) }
    }

    deinit {
        close(descriptor)
    }

    /// Counts the lines since the last call. An incomplete line is counted in a later call.
    func count(into counts: inout Counts) {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return }
            while case let size = read(descriptor, start, buffer.count), size > 0 {
                var line = 0
                while line < size, let end = memchr(start + line, Int32(UInt8(ascii: "\n")), size - line) {
                    counts.count(buffer[line])
                    line = end - start + 1
                }
                lseek(descriptor, off_t(line - size), SEEK_CUR)
                if line == 0 { return }
            }
        }
    }
}
