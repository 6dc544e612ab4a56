internal import Dispatch
internal import Foundation
internal import Glibc
internal import Monitor
internal import SystemPackage
internal import SystemSupport

/// What is piped into a command.
enum StandardInput {
    private static let queue = DispatchQueue(label: "standard-input")

    private static let descriptorLines = DescriptorLines(LineReader(STDIN_FILENO, limit: Recording.longestLine))

    /// Its lines, each as soon as it is there, and with it those that have come together with it. It throws
    /// ``CommandError``.
    static var lines: AsyncThrowingStream<[String], any Error> {
        AsyncThrowingStream {
            do {
                return try await descriptorLines.nextBatch()?.map(\.text)
            } catch let error as LineReader.TooLong {
                throw CommandError(
                    code: "long-line", "standard input:\(error.number): the line is longer than any message",
                    status: .dataError)
            } catch let error as SystemError {
                throw unreadable(error.reason)
            }
        }
    }

    /// What is taken as one text; any number of lines is read line by line.
    private static let textLimit = 64 << 20

    /// All of it, to its end.
    /// - Throws: ``CommandError`` when it cannot be read, or is too long.
    static func text() throws -> String {
        var bytes: [UInt8] = []
        try read { chunk in
            bytes += chunk
            guard bytes.count <= textLimit else {
                throw CommandError(
                    code: "long-input", "standard input is longer than 64 MiB",
                    recovery: "give it less; 'segue send --stdin' takes any number of lines", status: .dataError)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Copies all of it, to its end, to a file that goes with this process.
    /// - Returns: the file's path.
    /// - Throws: ``CommandError`` when it cannot be read, or the file not be written.
    static func copy() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try copyNow() }) }
        }
    }

    private static func copyNow() throws -> String {
        var template = Array("\(NSTemporaryDirectory())/segue-XXXXXX".utf8CString)
        let file = FileDescriptor(rawValue: mkstemp(&template))
        guard file.rawValue >= 0 else { throw unwritable(Errno(rawValue: errno)) }
        // Without a name it is gone with the process, however that ends.
        unlink(template)
        try read { bytes in
            do { _ = try file.writeAll(bytes) } catch { throw unwritable(error) }
        }
        return "/proc/self/fd/\(file.rawValue)"
    }

    private static func read(_ take: (ArraySlice<UInt8>) throws -> Void) throws {
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count: Int
            do {
                count = try chunk.withUnsafeMutableBytes { try FileDescriptor.standardInput.read(into: $0) }
            } catch {
                throw unreadable("\(error)")
            }
            guard count > 0 else { return }
            try take(chunk[..<count])
        }
    }

    private static func unreadable(_ reason: String) -> CommandError {
        CommandError(
            code: "unreadable-input", "standard input cannot be read: \(reason)",
            recovery: "give it a file or a pipe", status: .noInput)
    }

    private static func unwritable(_ error: any Error) -> CommandError {
        CommandError(
            code: "unwritable-copy", "standard input cannot be copied to \(NSTemporaryDirectory()): \(error)",
            recovery: "name another folder in TMPDIR", status: .ioError)
    }
}
