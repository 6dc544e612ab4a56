internal import Foundation
internal import Glibc
internal import Support
internal import SystemSupport

/// The file in which a broker with keys records what it has refused: JSON Lines, for programs and for later.
///
/// When the file is full, it replaces the one before, so that refusals never fill the disk.
struct AuditLog {
    /// Refusals of one kind since the line before.
    struct Entry: Encodable {
        enum Event: String, Encodable {
            /// Connections whose peers have no accepted key.
            case connectionRefused = "connection-refused"
            /// Connections that were ended, because too many were open and their peers had shown no key.
            case connectionEnded = "connection-ended"
            /// Requests over connections whose keys are no longer accepted.
            case requestRefused = "request-refused"
            /// Requests that the rights of their users do not allow.
            case requestForbidden = "request-forbidden"
        }

        let time: Date
        let event: Event
        let count: Int
        /// The address of the last peer; nil for requests.
        var address: String?
        /// The reason of the last refusal.
        let reason: String
    }

    /// The maximum size of the file in bytes.
    static let standardLimit = 10 * 1024 * 1024

    let path: String
    private let limit: Int

    /// - Parameter path: The path of the file. The file before has the suffix `.1`.
    init(path: String, limit: Int = standardLimit) {
        self.path = path
        self.limit = limit
    }

    /// Appends a line. Waits for the disk, so the calling thread must be one that may wait.
    /// - Throws: ``SystemError`` if the file cannot be written.
    func append(_ entry: Entry) throws {
        let line = Data("\(try JSONValue(encoding: entry))\n".utf8)
        var info = stat()
        if lstat(path, &info) == 0, Int(info.st_size) + line.count > limit, rename(path, path + ".1") != 0 {
            throw SystemError(path)
        }
        try PrivateFile.claim(path)
        let descriptor = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(path) }
        defer { close(descriptor) }
        try writeAll(line, to: descriptor, path)
    }
}
