package import Foundation
import Glibc
import SystemSupport

/// The lines of the logs in a folder. The existing lines of several logs are ordered by time.
///
/// A reader that follows also returns new lines as they are written, including those of new logs, until its task is
/// cancelled. It then returns the lines that were written before the cancellation, and ends.
package struct LogReader: AsyncSequence, Sendable {
    package typealias Element = LogLine

    private let directory: String
    /// Returns true for the name of a log to read.
    package let isWanted: @Sendable (String) -> Bool
    private let last: Int?
    private let period: LogPeriod
    private let watch: DirectoryWatch?

    /// - Parameters:
    ///   - directory: the folder of the logs; created if it is missing.
    ///   - last: the number of existing lines of each log to begin with; nil for all.
    ///   - follow: true to wait for new lines, by inotify.
    ///   - isWanted: returns true for the name of a log to read.
    /// - Throws: ``ComposeError`` `watch`, `directory`, `insecure-directory`.
    init(
        directory: String, last: Int?, in period: LogPeriod, follow: Bool,
        isWanted: @escaping @Sendable (String) -> Bool = { _ in true }
    ) throws(ComposeError) {
        self.directory = directory
        self.last = last
        self.period = period
        self.isWanted = isWanted
        try PrivateDirectory.make(directory)
        // The watch begins before the files are first read, so that no line written in between is missed.
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
            /// The next line of the log, kept while another log has an earlier line. Nil if it has not been read.
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
                // A new log is read from its beginning.
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

/// A period of time that includes both its ends. Nil for an end that is open.
package struct LogPeriod: Sendable, Equatable {
    package var since: Date?
    package var until: Date?

    package init(since: Date? = nil, until: Date? = nil) {
        self.since = since
        self.until = until
    }
}

/// Reads the files of one log line by line, and continues with files that are begun later.
struct LogCursor {
    let files: LogFiles
    /// The ends of the period, as bytes to compare with the times of records.
    private let since, until: [UInt8]?
    /// The open files. The first is being read, and the last is the newest file that is known.
    private var open: [LogFile] = []
    private var buffer: [UInt8] = []
    /// The index of the first byte in the buffer that has not been returned.
    private var start = 0

    /// - Parameter last: the number of existing lines to begin with; nil for all.
    init(_ files: LogFiles, last: Int? = nil, in period: LogPeriod = LogPeriod()) {
        self.files = files
        (since, until) = (period.since.map(LogRecord.time), period.until.map(LogRecord.time))
        // A file that is removed at this moment is skipped. Only the oldest files are removed.
        open = files.numbers.compactMap { LogFile(files, number: $0) }
        if let last { skip(toLast: last) }
    }

    /// The next line; nil if there is none at present.
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
                // The writer began the next file before the end of this file was found. So nothing more is written to
                // this file.
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

    /// Opens the file that was begun after the newest open file. An open file can be read even after it is removed.
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

    /// Continues with the next file. If files between the two are missing, adds a notice.
    private mutating func leaveFile() {
        buffer = Array(buffer[start...])
        start = 0
        // A writer that was killed may have left half a record.
        if !buffer.isEmpty { buffer.append(UInt8(ascii: "\n")) }
        let left = open.removeFirst()
        // A gap in the numbers means that files were removed before they could be opened.
        guard let next = open.first, next.number != left.number + 1 else { return }
        let text = "lines are missing here, because they were removed before they could be read"
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

    /// Nil if the file cannot be opened.
    init?(_ files: LogFiles, number: Int) {
        self.number = number
        descriptor = Glibc.open(files.path(number), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The next bytes, at most one block; empty at the current end of the file.
    func read() -> [UInt8] {
        Array(unsafeUninitializedCapacity: Self.blockSize) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
        }
    }

    /// True if the file has been removed from its folder.
    var isRemoved: Bool {
        var own = stat()
        return fstat(descriptor, &own) == 0 && own.st_nlink == 0
    }

    func seekToEnd() {
        lseek(descriptor, 0, SEEK_END)
    }

    /// Moves to the start of the last records that were written up to a time.
    ///
    /// - Returns: the number of these records, at most `count`.
    func seek(toLast count: Int, until time: [UInt8]?) -> Int {
        var bytes: [UInt8] = []
        while case let block = read(), !block.isEmpty { bytes += block }
        var found = 0
        var start = 0
        // Bytes after the last line feed are a record that is still being written, or not a record.
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
