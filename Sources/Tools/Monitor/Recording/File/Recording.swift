internal import Foundation
internal import SystemPackage

/// A file of messages, one a line: what `segue record` writes, or `segue monitor --json`.
package struct Recording: Sendable {
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
        var lines = LineReader(descriptor)
        var messages = 0
        while let next = try readingErrors({ try lines.next() }) {
            let line = lines.number
            if next.text.allSatisfy({ $0 <= UInt8(ascii: " ") }) { continue }
            var entry = try entry(next.text, line: line, number: messages + 1)
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
            throw RecordingError(
                "recording.unreadable", "\(name) cannot be read: \(error)",
                recovery: "name a file that 'segue record' has made", isMissing: true)
        }
    }

    private func entry(_ text: Data, line: Int, number: Int) throws -> RecordingEntry {
        do {
            return try RecordingEntry(text, line: line, number: number)
        } catch let error as RecordingError {
            throw RecordingError(error.code, "\(name):\(line): \(error.message)", recovery: error.recovery)
        }
    }
}
