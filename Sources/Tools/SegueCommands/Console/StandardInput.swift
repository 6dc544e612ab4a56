internal import Dispatch
internal import Foundation
internal import Monitor
internal import Synchronization
internal import SystemPackage

/// What is piped into a command.
enum StandardInput {
    private static let queue = DispatchQueue(label: "standard-input")
    private static let chunk = 64 << 10
    private static let reader = Mutex(LineReader(piece))

    /// Its lines, each as soon as it is there, and with it those that have come together with it: reading waits on a thread
    /// of its own, never on one that tasks share. It throws ``CommandError``.
    static var lines: AsyncThrowingStream<[String], any Error> {
        AsyncThrowingStream {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try reader.withLock { try nextLines(&$0) } }) }
            }
        }
    }

    /// All of it, to its end.
    static func text() throws -> String {
        String(decoding: try FileHandle.standardInput.readToEnd() ?? Data(), as: UTF8.self)
    }

    /// - Returns: nil at its end.
    private static func nextLines(_ reader: inout LineReader) throws(CommandError) -> [String]? {
        do {
            var lines: [String] = []
            while lines.isEmpty || reader.holdsLine, let line = try reader.next() {
                lines.append(String(decoding: line.text, as: UTF8.self))
            }
            return lines.isEmpty ? nil : lines
        } catch let error as LineReader.TooLong {
            throw CommandError(
                code: "long-line", "standard input:\(error.number): the line is longer than any message",
                status: .dataError)
        } catch {
            throw CommandError(
                code: "unreadable-input", "standard input cannot be read: \(error)", status: .noInput)
        }
    }

    /// - Returns: what is there, as soon as there is something; nothing at the end.
    private static func piece() throws -> Data {
        var piece = Data(count: chunk)
        let count = try piece.withUnsafeMutableBytes { try FileDescriptor.standardInput.read(into: $0) }
        return piece.prefix(count)
    }
}
