package import Foundation
import Glibc
import SystemSupport

/// The lines of several logs of one folder, in the order of their times.
///
/// A follower sees new lines as they are written, of logs that are begun later too, until its task is cancelled; then it
/// still gets what was written by then.
package struct LogReader: AsyncSequence, Sendable {
    package typealias Element = LogLine

    private let directory: String
    /// Which logs are read, by name.
    package let isWanted: @Sendable (String) -> Bool
    private let last: Int?
    private let period: LogPeriod
    private let watch: DirectoryWatch?

    /// - Parameters:
    ///   - directory: made where it is missing.
    ///   - last: how many lines of each log to begin with; `nil` is all.
    ///   - follow: whether to wait for more, by inotify.
    ///   - isWanted: which logs, by name.
    /// - Throws: ``ComposeError`` `watch`, or that the folder cannot be made.
    init(
        directory: String, last: Int?, in period: LogPeriod, follow: Bool,
        isWanted: @escaping @Sendable (String) -> Bool = { _ in true }
    ) throws(ComposeError) {
        self.directory = directory
        self.last = last
        self.period = period
        self.isWanted = isWanted
        try PrivateDirectory.make(directory)
        // Before the first look at the files, so that nothing is written unseen between the two.
        do {
            watch = follow ? try DirectoryWatch(path: directory) : nil
        } catch {
            throw .watch(error)
        }
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    package struct Iterator: AsyncIteratorProtocol {
        private let reader: LogReader
        private var sources: [Source] = []

        private struct Source {
            var cursor: LogCursor
            /// Read already, but not yet the earliest of all.
            var peeked: LogLine?
        }

        fileprivate init(_ reader: LogReader) {
            self.reader = reader
            addSources(last: reader.last)
        }

        package mutating func next() async -> LogLine? {
            while true {
                if let line = earliest() { return line }
                guard let watch = reader.watch, !Task.isCancelled else { return nil }
                guard await watch.wait() else { continue }
                // A log that was not there yet is shown from its beginning.
                addSources(last: nil)
            }
        }

        private mutating func addSources(last: Int?) {
            for name in LogFiles.names(in: reader.directory).sorted()
            where reader.isWanted(name) && !sources.contains(where: { $0.cursor.files.name == name }) {
                let files = LogFiles(directory: reader.directory, name: name)
                sources.append(Source(cursor: LogCursor(files, last: last, in: reader.period)))
            }
        }

        private mutating func earliest() -> LogLine? {
            for index in sources.indices where sources[index].peeked == nil {
                sources[index].peeked = sources[index].cursor.next()
            }
            let waiting = sources.indices.compactMap { index in sources[index].peeked.map { (index, $0.timestamp) } }
            guard let (index, _) = waiting.min(by: { $0.1 < $1.1 }) else { return nil }
            defer { sources[index].peeked = nil }
            return sources[index].peeked
        }
    }
}

/// From when and until when lines are wanted, both included.
package struct LogPeriod: Sendable, Equatable {
    package var since: Date?
    package var until: Date?

    package init(since: Date? = nil, until: Date? = nil) {
        self.since = since
        self.until = until
    }
}

/// Reads the files of one log line by line, and goes on with those that are begun later.
struct LogCursor {
    let files: LogFiles
    /// The times of the period, as they are compared with those in files.
    private let since, until: [UInt8]?
    /// Those that are open: the first is being read, the last is the newest there was.
    private var open: [LogFile] = []
    private var buffer: [UInt8] = []
    /// Where the part of the buffer that was not returned begins.
    private var start = 0

    /// - Parameter last: how many of the lines that are there to begin with; `nil` is all.
    init(_ files: LogFiles, last: Int? = nil, in period: LogPeriod = LogPeriod()) {
        self.files = files
        (since, until) = (period.since.map(LogRecord.time), period.until.map(LogRecord.time))
        // One that is removed just now is too old to be missed.
        open = files.numbers.compactMap { LogFile(files, number: $0) }
        if let last { skip(toLast: last) }
    }

    /// - Returns: `nil` when there is nothing more for now.
    mutating func next() -> LogLine? {
        while true {
            if let line = takeLine() { return line }
            openFollowing()
            guard let file = open.first else { return nil }
            let bytes = file.read()
            if !bytes.isEmpty {
                buffer = Array(buffer[start...]) + bytes
                start = 0
            } else if open.count > 1 {
                // The next one was there before this one's end was found: nothing is written here any more.
                leaveFile()
            } else {
                return nil
            }
        }
    }

    private mutating func takeLine() -> LogLine? {
        while let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let record = buffer[start..<end]
            start = end + 1
            if fits(record) { return LogRecord.line(record, of: files.name) }
        }
        return nil
    }

    private func fits(_ record: ArraySlice<UInt8>) -> Bool {
        guard !record.isEmpty else { return false }
        guard let time = LogRecord.time(of: record) else { return since == nil && until == nil }
        if let since, time.lexicographicallyPrecedes(since) { return false }
        if let until, until.lexicographicallyPrecedes(time) { return false }
        return true
    }

    /// Opens the files that were begun after the newest that is open: from then on nobody can take them away.
    private mutating func openFollowing() {
        guard let newest = open.last else {
            open = files.numbers.compactMap { LogFile(files, number: $0) }
            return
        }
        if let next = LogFile(files, number: newest.number + 1) {
            open.append(next)
        } else if newest.isRemoved, let number = files.numbers.first(where: { $0 > newest.number }),
            let next = LogFile(files, number: number)
        {
            open.append(next)
        }
    }

    /// Goes on with the next file; what is missing between the two is told.
    private mutating func leaveFile() {
        buffer = Array(buffer[start...])
        start = 0
        // A writer that was killed may have left half a record.
        if !buffer.isEmpty { buffer.append(UInt8(ascii: "\n")) }
        let left = open.removeFirst()
        // Files have been removed before they could be opened.
        guard let next = open.first, next.number != left.number + 1 else { return }
        let text = "lines were removed before they could be read here"
        buffer += LogRecord.bytes(
            time: LogRecord.time(Date()), stream: .notice, text: Array(text.utf8), continues: false)
    }

    private mutating func skip(toLast count: Int) {
        var missing = count
        var wanted: [LogFile] = []
        for file in open.reversed() where missing > 0 || wanted.isEmpty {
            missing -= file.seek(toLast: missing, until: until)
            wanted.insert(file, at: 0)
        }
        if count == 0 { wanted.first?.seekToEnd() }
        open = wanted
    }
}

/// A log file open for reading.
private final class LogFile {
    private static let blockSize = 65536

    let number: Int
    private let descriptor: CInt

    /// - Returns: `nil` when there is none.
    init?(_ files: LogFiles, number: Int) {
        self.number = number
        descriptor = Glibc.open(files.path(number), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Up to one block; empty at the present end.
    func read() -> [UInt8] {
        Array(unsafeUninitializedCapacity: Self.blockSize) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
        }
    }

    /// Whether nobody can open it any more.
    var isRemoved: Bool {
        var own = stat()
        return fstat(descriptor, &own) == 0 && own.st_nlink == 0
    }

    func seekToEnd() {
        lseek(descriptor, 0, SEEK_END)
    }

    /// Moves to where the last records begin that were written up to a time.
    ///
    /// - Returns: how many there are, at most `count`.
    func seek(toLast count: Int, until time: [UInt8]?) -> Int {
        var bytes: [UInt8] = []
        while case let block = read(), !block.isEmpty { bytes += block }
        var found = 0
        var start = 0
        // What is not ended is being written, or no record.
        var end = bytes.lastIndex(of: UInt8(ascii: "\n"))
        while let last = end, found < count {
            end = bytes[..<last].lastIndex(of: UInt8(ascii: "\n"))
            let record = bytes[(end.map { $0 + 1 } ?? 0)..<last]
            if let time, let own = LogRecord.time(of: record), time.lexicographicallyPrecedes(own) { continue }
            found += 1
            start = record.startIndex
        }
        lseek(descriptor, off_t(start), SEEK_SET)
        return found
    }
}
