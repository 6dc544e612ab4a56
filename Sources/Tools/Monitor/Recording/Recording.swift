package import EventBus
internal import Foundation
internal import Support
internal import SystemPackage
internal import SystemSupport

/// A file of messages, one on each line, such as the output of `segue monitor --json`. `segue record` also writes a
/// first line, the header, and a last line, the end.
package struct Recording: Sendable {
    /// The maximum length of a line, in bytes. A longer line is an error.
    package static let longestLine = 8 << 20

    private let path: String
    private let file: String

    /// - Parameters:
    ///   - path: The path of the file, or `-` for standard input.
    ///   - copy: A file with the content of standard input. Nil if `path` is a file.
    package init(path: String, copy: String? = nil) {
        (self.path, file) = (path, copy ?? path)
    }

    /// The path, or `standard input`.
    package var name: String { path == "-" ? "standard input" : path }

    /// Reads the file from the beginning, line by line.
    /// - Parameter body: Returns true to stop reading.
    /// - Throws: ``RecordingError`` if the file cannot be read, has a line that is too long, or has a header of another
    ///   version; and the errors of `body`.
    package func read(_ body: (RecordingEntry) async throws -> Bool) async throws {
        let descriptor = try readingErrors { try FileDescriptor.open(FilePath(file), .readOnly) }
        defer { try? descriptor.close() }
        var lines = LineReader(descriptor.rawValue, limit: Self.longestLine)
        var messages = 0
        while let next = try readingErrors({ try lines.next() }) {
            let line = lines.number
            if next.bytes.allSatisfy({ $0 <= UInt8(ascii: " ") }) { continue }
            var entry = try entry(next.bytes, line: line, number: messages + 1)
            if case .message = entry { messages += 1 }
            if case .mistake = entry, !next.isWhole { entry = .cutOff(line: line) }
            if try await body(entry) { return }
        }
    }

    /// Reads the messages. An incomplete last line is skipped.
    /// - Parameter body: Returns true to stop reading.
    /// - Throws: The errors of ``read(_:)``, and ``RecordingError`` for a line that is not valid.
    package func readMessages(_ body: (RecordedMessage) async throws -> Bool) async throws {
        try await read { entry in
            switch entry {
            case .message(let message): return try await body(message)
            case .mistake(let mistake): throw error(mistake)
            case .header, .end, .cutOff: return false
            }
        }
    }

    /// The error for a line that is not a message.
    func error(_ mistake: RecordingMistake) -> RecordingError {
        RecordingError("recording.malformed", "\(name):\(mistake.line): this is not a message: \(mistake.reason)")
    }

    /// The error for a moment that is not in the recording.
    func missing(_ moment: RecordingMoment) -> RecordingError {
        RecordingError(
            "recording.moment", "\(name) has no message '\(moment)'",
            recovery: "see 'segue record info \(Escape.shellWord(path))'")
    }

    /// Converts the errors of reading the file to errors with the name of the file.
    private func readingErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as LineReader.TooLong {
            throw RecordingError("recording.line", "\(name):\(error.number): the line is longer than any message")
        } catch Errno.noSuchFileOrDirectory {
            throw RecordingError(
                "recording.unreadable", "there is no file \(name)", recovery: "make one with 'segue record'",
                isMissing: true)
        } catch let error as Errno {
            throw unreadable("\(error)")
        } catch let error as SystemError {
            throw unreadable(error.reason)
        }
    }

    private func unreadable(_ reason: String) -> RecordingError {
        RecordingError(
            "recording.unreadable", "\(name) cannot be read: \(reason)",
            recovery: "name a file that you can read", isMissing: true)
    }

    private func entry(_ text: Data, line: Int, number: Int) throws -> RecordingEntry {
        do {
            return try RecordingEntry(text, line: line, number: number)
        } catch let error as RecordingError {
            throw RecordingError(error.code, "\(name):\(line): \(error.message)", recovery: error.recovery)
        }
    }
}

/// The content of a line of a recording.
package enum RecordingEntry: Hashable, Sendable {
    case header(RecordingHeader)
    case message(RecordedMessage)
    case end(RecordingEnd)
    /// A line that is not a message, a header or an end.
    case mistake(RecordingMistake)
    /// The file ends in the middle of this line, for example because its writer was killed.
    case cutOff(line: Int)

    /// - Parameters:
    ///   - line: The number of the line, from 1.
    ///   - number: The number of the message, if the line is a message.
    /// - Throws: ``RecordingError`` if the line is a header of another version.
    init(_ text: Data, line: Int, number: Int) throws {
        do {
            self = .message(RecordedMessage(number: number, line: line, try CloudEventFormat.message(text)))
        } catch let error as BusError {
            self = try Self.tag(text) ?? .mistake(RecordingMistake(line: line, reason: error.message))
        }
    }

    private struct Tag: Decodable {
        let segue: String
        let version: Int?
    }

    /// - Returns: Nil if the line is neither a header nor an end.
    private static func tag(_ text: Data) throws -> RecordingEntry? {
        guard let tag = try? JSONDecoder().decode(Tag.self, from: text) else { return nil }
        switch tag.segue {
        case RecordingEnd.tag: return (try? JSONDecoder().decode(RecordingEnd.self, from: text)).map { .end($0) }
        case RecordingHeader.tag:
            guard tag.version == RecordingHeader.version else {
                throw RecordingError(
                    "recording.version",
                    "the recording has version \(tag.version ?? 0), but this segue reads version "
                        + "\(RecordingHeader.version)",
                    recovery: "use the segue that wrote the recording")
            }
            return (try? JSONDecoder().decode(RecordingHeader.self, from: text)).map { .header($0) }
        default: return nil
        }
    }
}

/// The first line of a recording: its version, its start, and whether all messages were to be recorded.
package struct RecordingHeader: Codable, Hashable, Sendable {
    /// The version of the file format that this program writes and reads.
    package static let version = 1
    static let tag = "recording"

    private let segue: String
    package let version: Int
    /// The time at which the recording began, in the form of RFC 3339.
    package let begun: String
    /// The start of the recorded part of the journal, as a value of the option `--since`.
    package let since: String
    /// True if no option limited the recording to a selection of messages.
    private let everything: Bool

    package init(since: MonitorStart, _ selection: MessageSelection) {
        segue = Self.tag
        version = Self.version
        begun = Timestamp.text(of: Date())
        self.since = since.argument
        everything = selection == MessageSelection()
    }

    /// True if the recording begins with the retained documents.
    var beginsWithRetained: Bool { since == MonitorStart.retained.argument }
}

extension MonitorStart {
    /// The start as a value of the option `--since`.
    fileprivate var argument: String {
        switch self {
        case .now: "now"
        case .beginning: "beginning"
        case .retained: "retained"
        case .last: "last"
        case .offset(let offset): "\(offset)"
        case .time(let time): Timestamp.text(of: time)
        case .ago(let duration): duration.optionText
        }
    }
}

/// A message of a recording, with its place in the file.
package struct RecordedMessage: Hashable, Sendable {
    /// The number of the message among the messages of the recording, from 1.
    package let number: Int
    /// The number of the line in the file, from 1.
    package let line: Int
    package let message: Envelope

    package init(number: Int, line: Int, _ message: Envelope) {
        self.number = number
        self.line = line
        self.message = message
    }
}

/// The last line that `segue record` writes. If it is missing, the last messages may be missing, too.
package struct RecordingEnd: Codable, Hashable, Sendable {
    static let tag = "end"

    private let segue: String
    /// The number of messages in the recording.
    package let messages: Int
    /// The types of the messages that retention removed before they were recorded, each with the largest reported
    /// offset of such a message. Nil in recordings of earlier versions.
    let missing: [String: UInt64]?
    /// The time at which the recording ended, in the form of RFC 3339.
    package let ended: String

    package init(messages: Int, missing: [String: UInt64] = [:]) {
        segue = Self.tag
        self.messages = messages
        self.missing = missing
        ended = Timestamp.text(of: Date())
    }
}

/// A line that is not valid in a recording.
package struct RecordingMistake: Encodable, Hashable, Sendable {
    /// The number of the line, from 1.
    package let line: Int
    /// A short description of the error.
    package let reason: String
}

/// The error of a recording that cannot be used.
package struct RecordingError: Error, Hashable, Sendable {
    /// A stable code for programs.
    package let code: String
    /// The problem and its place, on one line.
    package let message: String
    /// The suggested remedy. Nil if there is none.
    package let recovery: String?
    /// True if the file does not exist or cannot be read.
    package let isMissing: Bool

    init(_ code: String, _ message: String, recovery: String? = nil, isMissing: Bool = false) {
        self.code = code
        self.message = message
        self.recovery = recovery
        self.isMissing = isMissing
    }
}

extension RecordingError: CustomStringConvertible {
    package var description: String { recovery.map { "\(message); \($0)" } ?? message }
}
