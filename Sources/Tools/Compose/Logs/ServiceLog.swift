import Foundation
import Logging

/// Writes the output of one instance to its log, line by line, with the time and the stream of each line. A long line
/// is written in several records.
actor ServiceLog {
    /// Writing a file can block.
    private nonisolated let executor: BlockingExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The maximum number of lines in ``tail``; older lines are removed.
    private static let tailLength = 20
    /// The maximum length of a line in ``tail`` in characters; a longer line is cut.
    private static let tailWidth = 500

    private let service: String
    private let writer: LogWriter
    private let logger: Logger
    /// The bytes of each stream that are not in a record yet.
    private var open: [LogLine.Stream: [UInt8]] = [:]
    /// The number of lines whose last record could not be written since the last successful write. 0 if only other
    /// records of a line were lost; nil if nothing was lost.
    private var lostLines: Int?
    private var hasFailed = false
    /// The last lines of the output, for errors.
    private(set) var tail: [String] = []

    /// - Throws: ``ComposeError`` `log-file`.
    static func open(
        service: String, files: LogFiles, retention: LogRetention, logger: Logger
    ) async throws(ComposeError) -> ServiceLog {
        let executor = BlockingExecutor("log")
        return try await executor.run {
            Result { () throws(ComposeError) in
                try ServiceLog(
                    service: service, writer: LogWriter(files, retention: retention), logger: logger,
                    executor: executor)
            }
        }.get()
    }

    private init(service: String, writer: sending LogWriter, logger: Logger, executor: BlockingExecutor) {
        self.service = service
        self.logger = logger
        self.writer = writer
        self.executor = executor
    }

    /// Appends the next output of a stream, which may begin and end in the middle of a line.
    func append(_ bytes: [UInt8], to stream: LogLine.Stream) {
        var records = Records(stream: stream)
        var line = open.removeValue(forKey: stream) ?? []
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            line += rest[..<(end ?? rest.endIndex)]
            while line.count > LogLine.maximumLength {
                let part = Self.part(of: line)
                records.append(part, continues: true)
                line.removeFirst(part.count)
            }
            if end != nil {
                keep(line)
                records.append(line[...], continues: false)
                line.removeAll(keepingCapacity: true)
            }
            rest = end.map { rest[($0 + 1)...] } ?? []
        }
        if !line.isEmpty { open[stream] = line }
        write(records)
    }

    /// The beginning of a line: as much as one record can contain, without splitting a character. (In UTF-8, every byte
    /// of a character except the first is 10xxxxxx.)
    private static func part(of line: [UInt8]) -> ArraySlice<UInt8> {
        let longest = LogLine.maximumLength
        let end = (longest - 3...longest).last { line[$0] & 0xC0 != 0x80 }
        return line.prefix(end ?? longest)
    }

    /// Ends a line that the service had not ended when it exited.
    func endLine(of stream: LogLine.Stream) {
        if open[stream] != nil { append([UInt8(ascii: "\n")], to: stream) }
    }

    private struct Records {
        let stream: LogLine.Stream
        let time = LogRecord.time(Date())
        private(set) var bytes: [UInt8] = []
        /// The number of records that end a line.
        private(set) var lineCount = 0

        init(stream: LogLine.Stream) {
            self.stream = stream
        }

        mutating func append(_ text: ArraySlice<UInt8>, continues: Bool) {
            bytes += LogRecord.bytes(time: time, stream: stream, text: text, continues: continues)
            if !continues { lineCount += 1 }
        }
    }

    private func keep(_ line: [UInt8]) {
        tail.append(String(String(decoding: line.prefix(4 * Self.tailWidth), as: UTF8.self).prefix(Self.tailWidth)))
        if tail.count > Self.tailLength { tail.removeFirst() }
    }

    /// Writes records. If this fails, the records are lost, and the first failure is logged. The number of lost lines
    /// is written to the service's log before the next records.
    private func write(_ records: Records) {
        guard !records.bytes.isEmpty else { return }
        do {
            if let lostLines { try tellLoss(of: lostLines, at: records.time) }
            try writer.append(records.bytes)
        } catch {
            lostLines = (lostLines ?? 0) + records.lineCount
            guard !hasFailed else { return }
            hasFailed = true
            logger.error("cannot write the log of a service", metadata: ["service": "\(service)", "error": "\(error)"])
        }
    }

    private func tellLoss(of lines: Int, at time: [UInt8]) throws {
        let text =
            switch lines {
            case 0: "a part of a line is missing here, because it could not be written"
            case 1: "1 line is missing here, because it could not be written"
            default: "\(lines) lines are missing here, because they could not be written"
            }
        try writer.append(LogRecord.bytes(time: time, stream: .notice, text: Array(text.utf8), continues: false))
        lostLines = nil
    }
}
