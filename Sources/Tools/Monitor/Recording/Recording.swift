package import EventBus
internal import Foundation
internal import Support
internal import SystemPackage
internal import SystemSupport

/// A file of messages, one a line: what `segue record` writes, or `segue monitor --json`.
package struct Recording: Sendable {
    /// The bytes of the longest line: longer than any message, whose data has at most 4 MiB, a third more in Base64.
    package static let longestLine = 8 << 20

    private let path: String
    private let file: String

    /// - Parameters:
    ///   - path: its file, `-` for standard input.
    ///   - copy: the file that has what came from there.
    package init(path: String, copy: String? = nil) {
        (self.path, file) = (path, copy ?? path)
    }

    /// As messages to people call it.
    package var name: String { path == "-" ? "standard input" : path }

    /// Reads it from the beginning, line by line.
    /// - Parameter body: returns whether it has read enough.
    /// - Throws: ``RecordingError`` when the file cannot be read, and what `body` throws.
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

    /// Reads its messages up to the last whole one.
    /// - Parameter body: returns whether it has read enough.
    /// - Throws: as ``read(_:)``; ``RecordingError`` for a line that is no message.
    package func readMessages(_ body: (RecordedMessage) async throws -> Bool) async throws {
        try await read { entry in
            switch entry {
            case .message(let message): return try await body(message)
            case .mistake(let mistake): throw error(mistake)
            case .header, .end, .cutOff: return false
            }
        }
    }

    /// What is wrong with a line, as an error.
    func error(_ mistake: RecordingMistake) -> RecordingError {
        RecordingError("recording.malformed", "\(name):\(mistake.line): this is no message: \(mistake.reason)")
    }

    /// That there is no such moment, as an error.
    func missing(_ moment: RecordingMoment) -> RecordingError {
        RecordingError(
            "recording.moment", "\(name) has no message \(moment)", recovery: "see 'segue record info \(path)'")
    }

    /// Says of an error of the file which file it is.
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
            recovery: "name a file that 'segue record' has made", isMissing: true)
    }

    private func entry(_ text: Data, line: Int, number: Int) throws -> RecordingEntry {
        do {
            return try RecordingEntry(text, line: line, number: number)
        } catch let error as RecordingError {
            throw RecordingError(error.code, "\(name):\(line): \(error.message)", recovery: error.recovery)
        }
    }
}

/// What a line of a recording says.
package enum RecordingEntry: Hashable, Sendable {
    case header(RecordingHeader)
    case message(RecordedMessage)
    case end(RecordingEnd)
    /// It says nothing that is understood.
    case mistake(RecordingMistake)
    /// The file ends amid this line: whoever wrote it was killed.
    case cutOff(line: Int)

    /// - Parameter number: which message it is, if it is one.
    /// - Throws: ``RecordingError`` when it is a header of a later version.
    init(_ text: Data, line: Int, number: Int) throws {
        do {
            self = .message(RecordedMessage(number: number, line: line, try CloudEventFormat.message(text)))
        } catch let error as BusError {
            self = try Self.mark(text) ?? .mistake(RecordingMistake(line: line, reason: error.message))
        }
    }

    private struct Mark: Decodable {
        let segue: String
        let version: Int?
    }

    /// - Returns: nil for what is neither a first nor a last line.
    private static func mark(_ text: Data) throws -> RecordingEntry? {
        guard let mark = try? JSONDecoder().decode(Mark.self, from: text) else { return nil }
        switch mark.segue {
        case RecordingEnd.mark: return (try? JSONDecoder().decode(RecordingEnd.self, from: text)).map { .end($0) }
        case RecordingHeader.mark:
            guard mark.version == RecordingHeader.version else {
                throw RecordingError(
                    "recording.version",
                    "it is a recording of version \(mark.version ?? 0); version \(RecordingHeader.version) can be read",
                    recovery: "use the segue that wrote it")
            }
            return (try? JSONDecoder().decode(RecordingHeader.self, from: text)).map { .header($0) }
        default: return nil
        }
    }
}

/// The first line of a recording: what it is, and which messages it has.
package struct RecordingHeader: Codable, Hashable, Sendable {
    /// The latest form of recordings, and the only one so far.
    package static let version = 1
    static let mark = "recording"

    private let segue: String
    package let version: Int
    /// When it was begun, as RFC 3339 says it.
    package let begun: String
    /// Where in the journal it began, as `--since` says it.
    package let since: String
    /// Whether all messages were to be recorded, rather than a selection.
    let everything: Bool

    package init(since: MonitorStart, _ selection: MessageSelection) {
        segue = Self.mark
        version = Self.version
        begun = Timestamp.text(of: Date())
        self.since = since.argument
        everything = selection == MessageSelection()
    }

    /// Whether it began with the last of each document, which says nothing of what came between them.
    var beginsWithRetained: Bool { since == MonitorStart.retained.argument }

    /// Whether every message of a stretch of the journal has to be in it.
    var hasEveryMessage: Bool {
        everything && ![MonitorStart.retained, .last].map(\.argument).contains(since)
    }
}

extension MonitorStart {
    /// As `--since` says it.
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

/// A message of a recording, and where it stands in it.
package struct RecordedMessage: Hashable, Sendable {
    /// Which message of the recording it is, from 1.
    package let number: Int
    /// The line of the file, from 1.
    package let line: Int
    package let message: Envelope

    package init(number: Int, line: Int, _ message: Envelope) {
        self.number = number
        self.line = line
        self.message = message
    }
}

/// The last line of a recording that was ended in order: without it, messages may be missing.
package struct RecordingEnd: Codable, Hashable, Sendable {
    static let mark = "end"

    private let segue: String
    /// How many there are.
    package let messages: Int
    /// When it was ended, as RFC 3339 says it.
    package let ended: String

    package init(messages: Int) {
        segue = Self.mark
        self.messages = messages
        ended = Timestamp.text(of: Date())
    }
}

/// A line that is none of a recording.
package struct RecordingMistake: Encodable, Hashable, Sendable {
    /// From 1.
    package let line: Int
    /// What is wrong, in a few words.
    package let reason: String
}

/// Why a recording cannot be used.
package struct RecordingError: Error, Hashable, Sendable {
    /// A stable name for a program.
    package let code: String
    /// One line: what is wrong, and where.
    package let message: String
    /// What to do about it.
    package let recovery: String?
    /// Whether the file is not there or cannot be read, rather than a wrong one.
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
