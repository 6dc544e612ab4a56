import Foundation
import Glibc

/// Reads one service's log file line by line, and goes on with the next file where a new run has begun one.
struct LogCursor {
    let service: String
    private let path: String
    private var file: LogFile?
    private var buffer: [UInt8] = []
    /// Where the part of the buffer that was not returned begins.
    private var start = 0
    private var openLine: Date?

    /// - Parameter last: how many of the lines that are there to begin with; `nil` is all.
    init(service: String, path: String, last: Int?) {
        self.service = service
        self.path = path
        file = LogFile(path: path)
        if let last { file?.seek(toLast: last) }
    }

    /// - Parameter acceptsOpenLine: whether a line may be returned that has not been ended yet.
    /// - Returns: `nil` when there is nothing more for now.
    mutating func next(acceptsOpenLine: Bool) -> LogLine? {
        while true {
            if let line = takeLine() { return line }
            // Asked before reading: what was still written to the old file until it was replaced is then read first.
            let hasNewFile = file?.isReplaced(at: path) ?? true
            if let bytes = file?.read(), !bytes.isEmpty {
                buffer = Array(buffer[start...]) + bytes
                start = 0
                continue
            }
            if start < buffer.count, acceptsOpenLine || hasNewFile && file != nil {
                return take(buffer[start...], skipping: 0, continues: false)
            }
            guard hasNewFile, let next = LogFile(path: path) else { return nil }
            file = next
        }
    }

    private mutating func takeLine() -> LogLine? {
        let rest = buffer[start...]
        if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            return take(rest[..<end], skipping: 1, continues: false)
        }
        guard rest.count > LogLine.maximumLength + 64 else { return nil }
        return take(rest.prefix(LogLine.maximumLength), skipping: 0, continues: true)
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>, skipping end: Int, continues: Bool) -> LogLine {
        start = bytes.endIndex + end
        var text = bytes
        var timestamp = openLine
        if timestamp == nil, let blank = bytes.firstIndex(of: UInt8(ascii: " ")) {
            timestamp = try? LogLine.timestampFormat.parse(String(decoding: bytes[..<blank], as: UTF8.self))
            if timestamp != nil { text = bytes[(blank + 1)...] }
        }
        openLine = continues ? timestamp : nil
        return LogLine(
            service: service,
            timestamp: timestamp ?? .distantPast,
            text: String(decoding: text, as: UTF8.self),
            continues: continues
        )
    }
}
