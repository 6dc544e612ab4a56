package import Foundation
import Glibc
import SystemSupport

/// The lines of the logs in a folder. The existing lines of several logs are ordered by time.
///
/// A reader that does not follow returns the lines that were written before it began. A reader that follows also
/// returns new lines as they are written, including those of new logs, until its task is cancelled.
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
        try ComposeError.makeFolder(directory)
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
        private let merger: Merger
        private let watch: DirectoryWatch?
        /// The lines that were read and not yet returned.
        private var lines: ArraySlice<LogLine> = []

        fileprivate init(_ reader: LogReader) {
            merger = Merger(reader)
            watch = reader.watch
        }

        package mutating func next() async -> LogLine? {
            var mayHaveNewLogs = false
            while true {
                if let line = lines.popFirst() { return line }
                lines = await merger.next(addingLogs: mayHaveNewLogs)[...]
                if !lines.isEmpty { continue }
                guard let watch, !Task.isCancelled else { return nil }
                mayHaveNewLogs = await watch.wait()
            }
        }
    }

    /// Reads the files of several logs. Reading a file can block.
    private actor Merger {
        /// The number of lines, and of bytes, after which ``next(addingLogs:)`` returns.
        private static let mostLines = 500
        private static let mostBytes = 1 << 18

        private nonisolated let executor = BlockingExecutor("logs")
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        private let reader: LogReader
        private var sources: [Source] = []
        private var hasBegun = false

        private struct Source {
            var cursor: LogCursor
            /// The next line of the log, kept while another log has an earlier line. Nil if it has not been read.
            var peeked: LogLine?
        }

        init(_ reader: LogReader) {
            self.reader = reader
        }

        /// - Returns: the next lines; empty if there is none at present.
        func next(addingLogs: Bool) -> [LogLine] {
            // A new log is read from its beginning.
            if !hasBegun || addingLogs { addSources(last: hasBegun ? nil : reader.last) }
            hasBegun = true
            var lines: [LogLine] = []
            var bytes = 0
            while lines.count < Self.mostLines, bytes < Self.mostBytes, let line = earliest() {
                lines.append(line)
                bytes += line.text.utf8.count
            }
            return lines
        }

        private func addSources(last: Int?) {
            for name in LogFiles.names(in: reader.directory).sorted()
            where reader.isWanted(name) && !sources.contains(where: { $0.cursor.files.name == name }) {
                let files = LogFiles(directory: reader.directory, name: name)
                let cursor = LogCursor(files, last: last, in: reader.period, follow: reader.watch != nil)
                sources.append(Source(cursor: cursor))
            }
        }

        private func earliest() -> LogLine? {
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
    /// True to continue with what is written later.
    private let follows: Bool
    private var buffer: [UInt8] = []
    /// The index of the first byte in the buffer that has not been returned.
    private var start = 0

    /// - Parameters:
    ///   - last: the number of existing lines to begin with; nil for all.
    ///   - follow: true to continue with lines that are written after this call. If false, lines that are written after
    ///     this call are not returned.
    init(_ files: LogFiles, last: Int? = nil, in period: LogPeriod = LogPeriod(), follow: Bool = true) {
        self.files = files
        follows = follow
        (since, until) = (period.since.map(LogRecord.time), period.until.map(LogRecord.time))
        // A file that is removed at this moment is skipped.
        open = files.numbers.compactMap { LogFile(files, number: $0) }
        if !follow { for file in open { file.limit() } }
        if let last { skip(toLast: last) }
    }

    /// The next line; nil if there is none at present.
    mutating func next() -> LogLine? {
        while true {
            if let line = consumeLine() { return line }
            if follows { openFollowing() }
            guard let file = open.first else { return nil }
            let bytes = file.read()
            if !bytes.isEmpty {
                buffer = Array(buffer[start...]) + bytes
                start = 0
            } else if open.count > 1 {
                // The writer has begun the next file, so nothing more is written to this file.
                leaveFile()
            } else {
                return nil
            }
        }
    }

    private mutating func consumeLine() -> LogLine? {
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

    /// Continues with the next file. If files between the two are missing, adds a line that says so.
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
        var lines = LastLines(count: count, until: until)
        var wanted: [LogFile] = []
        for file in open.reversed() where !lines.areFound || wanted.isEmpty {
            file.seek(to: &lines)
            wanted.insert(file, at: 0)
        }
        open = wanted
    }
}

/// Finds the last lines of a log, from its end backwards.
private struct LastLines {
    private let count: Int
    private let until: [UInt8]?
    private var found = 0
    /// The streams of the records that were counted. An earlier part of a line of such a stream belongs to a line that was
    /// counted.
    private var streams: Set<LogLine.Stream?> = []
    /// True if the record before those that were counted belongs to another line.
    private(set) var areFound = false

    /// - Parameter until: the time after which records are skipped; nil for none.
    init(count: Int, until: [UInt8]?) {
        self.count = count
        self.until = until
    }

    /// - Returns: true if the record, which is before all records that were passed before, belongs to the lines.
    mutating func count(_ record: ArraySlice<UInt8>) -> Bool {
        if let until, let time = LogRecord.time(of: record), until.lexicographicallyPrecedes(time) { return false }
        let (stream, continues) = LogRecord.part(of: record)
        if !continues || !streams.contains(stream) {
            areFound = found == count
            guard !areFound else { return false }
            found += 1
        }
        streams.insert(stream)
        return true
    }

    /// Ends the search, if all lines are found, before bytes that are too many for a record.
    mutating func handleInvalidRecord() {
        areFound = found == count
    }
}

/// A log file open for reading.
private final class LogFile {
    private static let blockSize = 65536

    let number: Int
    private let descriptor: CInt
    /// The offset of the next byte to read.
    private var position = 0
    /// The offset of the end of what is read; nil for the end of the file, however long it becomes.
    private var end: Int?

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
        let bytes = read(at: position, min(Self.blockSize, end.map { $0 - position } ?? .max))
        position += bytes.count
        return bytes
    }

    private func read(at offset: Int, _ length: Int) -> [UInt8] {
        guard length > 0 else { return [] }
        return Array(unsafeUninitializedCapacity: length) { buffer, count in
            while count < length {
                let more = pread(
                    descriptor, buffer.baseAddress?.advanced(by: count), length - count, off_t(offset + count))
                if more <= 0 { break }
                count += more
            }
        }
    }

    /// Ends the file for this reader where it ends now.
    func limit() {
        end = size
    }

    private var size: Int {
        var own = stat()
        return fstat(descriptor, &own) == 0 ? Int(own.st_size) : 0
    }

    /// True if the file has been removed from its folder.
    var isRemoved: Bool {
        var own = stat()
        return fstat(descriptor, &own) == 0 && own.st_nlink == 0
    }

    /// Moves to the first of the last lines that is in this file; if none is, behind the last record.
    func seek(to lines: inout LastLines) {
        let size = end ?? size
        var length = Self.blockSize
        while true {
            // The end of the file is read first. If it has too few lines, a longer end is read.
            let begin = max(0, size - length)
            var found = lines
            let start = Self.start(of: &found, in: read(at: begin, size - begin), isWhole: begin == 0)
            if found.areFound || begin == 0 {
                position = begin + start
                lines = found
                return
            }
            length *= 4
        }
    }

    /// The index of the first of the last lines; if there is none, the end of the last record.
    ///
    /// - Parameter isWhole: false if the bytes before the first line feed may be a part of a record.
    private static func start(of lines: inout LastLines, in bytes: [UInt8], isWhole: Bool) -> Int {
        // Bytes after the last line feed are a record that is still being written, or not a record.
        var end = bytes.lastIndex(of: UInt8(ascii: "\n"))
        var start = end.map { $0 + 1 } ?? 0
        while let last = end, !lines.areFound {
            end = bytes[..<last].lastIndex(of: UInt8(ascii: "\n"))
            if end == nil, !isWhole {
                if last > 2 * LogLine.maximumLength { lines.handleInvalidRecord() }
                break
            }
            let record = bytes[(end.map { $0 + 1 } ?? 0)..<last]
            if lines.count(record) { start = record.startIndex }
        }
        return start
    }
}
