package import Foundation
internal import Support

/// A line of a service's output.
package struct LogLine: Sendable, Equatable {
    package enum Stream: String, Sendable, Codable {
        case stdout
        case stderr
        /// A message of the log itself, for example about lines that could not be written.
        case notice
    }

    /// The name of the instance that wrote the line.
    package let service: String
    /// The time at which the supervisor read the end of the text, to the millisecond; `distantPast` if the line is not
    /// a valid record.
    package let timestamp: Date
    package private(set) var stream = Stream.stdout
    /// The line without its line ending. Bytes that are not UTF-8 are shown as U+FFFD; the file keeps the original
    /// bytes.
    package let text: String
    /// True if this is a part of a line longer than 1 MiB, and the next record of the same stream continues the line.
    package private(set) var continues = false

    /// The maximum size of a record's text in bytes; a longer line is split into several records.
    static let maximumLength = 1 << 20
}

/// The format of a line in a log file. It is the format of container logs (Kubernetes' CRI): `TIME STREAM F TEXT`, with
/// `P` instead of `F` for a part that the next record of its stream continues.
///
/// Times are in UTC with milliseconds. All have the same length, so sorting their bytes sorts the times.
enum LogRecord {
    private static let blank = UInt8(ascii: " ")
    private static let end = UInt8(ascii: "\n")
    private static let timeLength = 24
    /// The length of `TIME stdout F `; the names of all streams have the same length, too.
    private static let headLength = timeLength + 10

    /// A time as written in a record, rounded to the nearest millisecond.
    static func time(_ date: Date) -> [UInt8] { Array(Timestamp.text(of: date).utf8) }

    /// The bytes of a record, with the line feed at its end.
    ///
    /// - Parameter time: the result of ``time(_:)``, which can be used for many lines.
    static func bytes(time: [UInt8], stream: LogLine.Stream, text: some Collection<UInt8>, continues: Bool) -> [UInt8] {
        time + Array(" \(stream.rawValue) \(continues ? "P" : "F") ".utf8) + text + [end]
    }

    /// The time of a record, as bytes to compare; nil if it has none.
    static func time(of record: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let isWhole = record.count >= headLength && record[record.startIndex + timeLength] == blank
        return isWhole ? record.prefix(timeLength) : nil
    }

    /// The stream of a record, nil if it is not a valid one, and whether the next record of the stream continues its line.
    static func part(of record: ArraySlice<UInt8>) -> (stream: LogLine.Stream?, continues: Bool) {
        guard time(of: record) != nil else { return (nil, false) }
        let name = String(decoding: record.dropFirst(timeLength + 1).prefix(6), as: UTF8.self)
        return (LogLine.Stream(rawValue: name), record[record.startIndex + headLength - 2] == UInt8(ascii: "P"))
    }

    /// Reads a record, which is passed without its line feed. A line that is not a valid record becomes a notice.
    static func line(_ record: ArraySlice<UInt8>, of service: String) -> LogLine {
        let (stream, continues) = part(of: record)
        guard let stream, let date = time(of: record)?.withUnsafeBufferPointer(Timestamp.plainDate) else {
            return LogLine(service: service, timestamp: .distantPast, stream: .notice, text: text(record))
        }
        return LogLine(
            service: service, timestamp: date, stream: stream,
            text: text(record.dropFirst(headLength), isEnd: !continues), continues: continues)
    }

    /// Decodes a line's text, without a carriage return at the end of the line.
    private static func text(_ bytes: ArraySlice<UInt8>, isEnd: Bool = true) -> String {
        String(decoding: isEnd && bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self)
    }
}
