import Foundation
import Subprocess

/// A verb of the Python client that runs.
struct RunningPython {
    private let send: (Signal) -> Void
    private var lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator
    private var past: [String] = []

    init(output: SubprocessOutputSequence, send: @escaping (Signal) -> Void) {
        lines = output.strings().makeAsyncIterator()
        self.send = send
    }

    /// Lets it end as Control-C does.
    func interrupt() {
        send(.interrupt)
    }

    /// Ends it without warning.
    func kill() {
        send(.kill)
    }

    /// Makes it silent without its knowing, until it resumes.
    func pause() {
        send(.suspend)
    }

    func resume() {
        send(.resume)
    }

    /// It ended before it had said what was waited for.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    /// Waits for the next line, of output or errors, that fits.
    mutating func line(where fits: (String) -> Bool) async throws -> String {
        while let line = try await lines.next() {
            if fits(line) { return line }
            past.append(line)
        }
        throw Ended(description: past.joined(separator: "\n"))
    }

    /// Waits for this line.
    mutating func says(_ line: String) async throws {
        _ = try await self.line { $0 == line }
    }

    /// Waits for as many messages.
    @discardableResult
    mutating func messages(_ count: Int) async throws -> [PrintedMessage] {
        var messages: [PrintedMessage] = []
        while messages.count < count {
            messages.append(try PrintedMessage(await line { $0.hasPrefix("{") }))
        }
        return messages
    }
}
