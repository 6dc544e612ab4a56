package import Foundation

/// One line that a service wrote.
package struct LogLine: Sendable, Equatable {
    package enum Stream: String, Sendable, Codable {
        case stdout
        case stderr
        /// Of the log itself, as of lines that could not be kept.
        case notice
    }

    /// The instance that wrote it.
    package let service: String
    /// When it was complete, to the millisecond.
    package let timestamp: Date
    package private(set) var stream = Stream.stdout
    /// Without the line's end; what is not UTF-8 is shown as U+FFFD, while the file keeps the bytes.
    package let text: String
    /// The line is longer than 1 MiB: this is a part of it, and the next one of the same stream goes on.
    package private(set) var continues = false

    /// What one value holds at most, so that a service that never ends its line cannot fill the memory.
    static let maximumLength = 1 << 20
}

/// A line as it stands in a log's file, in the format of container logs (Kubernetes' CRI): `TIME STREAM F TEXT`, with `P`
/// for the part of a line that goes on in the next record of its stream. Nobody needs a program to read it.
///
/// Times are UTC with milliseconds, all of one length: in the order of their bytes they are in order.
enum LogRecord {
    private static let timeFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let blank = UInt8(ascii: " ")
    private static let end = UInt8(ascii: "\n")
    private static let timeLength = 24
    /// `TIME stdout F `: the names of all streams are of one length, too.
    private static let headLength = timeLength + 10

    /// To the nearest millisecond: a time that was read from a record is written as it stood there, though what holds it
    /// is a fraction in binary, and formatting cuts off.
    static func time(_ date: Date) -> [UInt8] { Array(date.addingTimeInterval(0.0005).formatted(timeFormat).utf8) }

    /// - Parameter time: as ``time(_:)`` makes it, which is worth doing once for many lines.
    static func bytes(time: [UInt8], stream: LogLine.Stream, text: some Collection<UInt8>, continues: Bool) -> [UInt8] {
        time + Array(" \(stream.rawValue) \(continues ? "P" : "F") ".utf8) + text + [end]
    }

    /// The time of a record, as bytes to compare; `nil` when it has none.
    static func time(of record: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let isWhole = record.count >= headLength && record[record.startIndex + timeLength] == blank
        return isWhole ? record.prefix(timeLength) : nil
    }

    /// Reads a record, without its end. What somebody else has written into the file is a line all the same.
    static func line(_ record: ArraySlice<UInt8>, of service: String) -> LogLine {
        guard let time = time(of: record),
            let date = try? timeFormat.parse(String(decoding: time, as: UTF8.self)),
            let stream = LogLine.Stream(
                rawValue: String(decoding: record.dropFirst(timeLength + 1).prefix(6), as: UTF8.self))
        else {
            return LogLine(service: service, timestamp: .distantPast, stream: .notice, text: text(record))
        }
        let continues = record[record.startIndex + headLength - 2] == UInt8(ascii: "P")
        return LogLine(
            service: service, timestamp: date, stream: stream,
            text: text(record.dropFirst(headLength), isEnd: !continues), continues: continues)
    }

    /// The carriage return of a line's end is no part of the line either.
    private static func text(_ bytes: ArraySlice<UInt8>, isEnd: Bool = true) -> String {
        String(decoding: isEnd && bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self)
    }
}
