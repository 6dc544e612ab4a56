internal import Dispatch
internal import Foundation
internal import Glibc
internal import Monitor
internal import Support
internal import SystemPackage
internal import SystemSupport

/// Reads standard input.
enum StandardInput {
    private static let queue = DispatchQueue(label: "standard-input")

    private static let descriptorLines = DescriptorLines(LineReader(STDIN_FILENO, limit: Recording.longestLine))

    /// The lines of standard input, in batches. A batch arrives as soon as its first line is complete, and also
    /// contains the lines that arrived together with this line. The stream throws ``CommandError`` if a line is longer
    /// than a message may be, or if standard input cannot be read.
    static var lines: AsyncThrowingStream<[Data], any Error> {
        AsyncThrowingStream {
            do {
                return try await descriptorLines.nextBatch()?.map(\.bytes)
            } catch let error as LineReader.TooLong {
                throw CommandError(
                    code: "long-line", "standard input:\(error.number): the line is longer than a message may be",
                    status: .dataError)
            } catch let error as SystemError {
                throw unreadable(error.reason)
            }
        }
    }

    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// The maximum number of bytes that ``text()`` reads; longer input is refused.
    private static let textLimit = 64 << 20

    /// Reads standard input to its end.
    /// - Throws: ``CommandError`` if standard input cannot be read, is longer than 64 MiB, or is not UTF-8.
    static func text() throws -> String {
        var bytes: [UInt8] = []
        try read { chunk in
            bytes += chunk
            guard bytes.count <= textLimit else {
                throw CommandError(
                    code: "long-input", "standard input is longer than 64 MiB",
                    recovery: "shorten it; 'segue send --stdin' reads any number of lines", status: .dataError)
            }
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let line = bytes.lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        throw CommandError(
            code: "not-utf8", "standard input:\(line + 1): the line is not UTF-8",
            recovery: "convert the input, for example with 'iconv -f ISO-8859-1 -t UTF-8'", status: .dataError)
    }

    /// Copies standard input, to its end, to a temporary file that the system removes when this process ends.
    /// - Returns: the file's path, which only this process can use.
    /// - Throws: ``CommandError`` if standard input cannot be read, or the file cannot be written.
    static func copy() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try copyNow() }) }
        }
    }

    private static func copyNow() throws -> String {
        var template = Array("\(NSTemporaryDirectory())/segue-XXXXXX".utf8CString)
        let file = FileDescriptor(rawValue: mkstemp(&template))
        guard file.rawValue >= 0 else { throw unwritable(Errno(rawValue: errno)) }
        // A file without a name is removed when the process ends, even if the process is killed.
        unlink(template)
        try read { bytes in
            do { _ = try file.writeAll(bytes) } catch { throw unwritable(error) }
        }
        return "/proc/self/fd/\(file.rawValue)"
    }

    private static func read(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count: Int
            do {
                count = try chunk.withUnsafeMutableBytes { try FileDescriptor.standardInput.read(into: $0) }
            } catch {
                throw unreadable("\(error)")
            }
            guard count > 0 else { return }
            try body(chunk[..<count])
        }
    }

    private static func unreadable(_ reason: String) -> CommandError {
        CommandError(
            code: "unreadable-input", "standard input cannot be read: \(reason)",
            recovery: "redirect it from a file or a pipe", status: .noInput)
    }

    private static func unwritable(_ error: any Error) -> CommandError {
        CommandError(
            code: "unwritable-copy", "standard input cannot be copied to \(NSTemporaryDirectory()): \(error)",
            recovery: "name another folder in TMPDIR", status: .ioError)
    }
}
