internal import Foundation

/// A file of messages, one a line: what `segue record` writes, or `segue monitor --json`.
package struct Recording: Sendable {
    private static let chunk = 256 << 10

    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Reads it from the beginning, line by line.
    /// - Parameter body: returns whether it has read enough.
    /// - Throws: ``RecordingError`` when the file cannot be read, and what `body` throws.
    package func read(_ body: (RecordingEntry) async throws -> Bool) async throws {
        let file = try open()
        defer { try? file.close() }
        var lines = LineReader { try file.read(upToCount: Self.chunk) ?? Data() }
        var messages = 0
        while let next = try nextLine(&lines) {
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
        RecordingError("recording.malformed", "\(path):\(mistake.line): this is no message: \(mistake.reason)")
    }

    /// That there is no such moment, as an error.
    func missing(_ moment: RecordingMoment) -> RecordingError {
        RecordingError(
            "recording.moment", "\(path) has no message \(moment)", recovery: "see 'segue record info \(path)'")
    }

    private func open() throws -> FileHandle {
        do {
            return try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw RecordingError(
                "recording.unreadable", isThere ? "\(path) cannot be read" : "there is no file \(path)",
                recovery: "make one with 'segue record'", isMissing: true)
        }
    }

    private func nextLine(_ lines: inout LineReader) throws -> LineReader.Line? {
        do {
            return try lines.next()
        } catch let error as LineReader.TooLong {
            throw RecordingError("recording.line", "\(path):\(error.number): the line is longer than any message")
        } catch {
            throw RecordingError("recording.unreadable", "\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    private func entry(_ text: Data, line: Int, number: Int) throws -> RecordingEntry {
        do {
            return try RecordingEntry(text, line: line, number: number)
        } catch let error as RecordingError {
            throw RecordingError(error.code, "\(path):\(line): \(error.message)", recovery: error.recovery)
        }
    }
}
