internal import EventBus
internal import Foundation
internal import Glibc
internal import Monitor
internal import SystemPackage

/// Writes a recording: each message as it comes, in whole lines.
actor RecordingWriter {
    private let path: String
    private let overwrites: Bool
    private let isOutput: Bool
    private var file: Console?
    private var count = 0

    /// - Parameter path: of the file; `-` for standard output.
    init(path: String, overwrites: Bool) {
        self.path = path
        isOutput = path == "-"
        self.overwrites = overwrites
    }

    /// - Throws: ``CommandError`` when the file exists already, or cannot be made.
    func begin(_ header: RecordingHeader) async throws {
        let file = isOutput ? Console.output : Console(try open())
        self.file = file
        try await write(JSONLine.text(header), to: file)
    }

    /// Runs `body` until it ends, or until nobody reads standard output any more if that is written to.
    /// - Throws: `Errno.brokenPipe`, and what `body` throws.
    nonisolated func whileRead(_ body: @escaping @Sendable () async throws -> Void) async throws {
        if isOutput { try await Console.output.whileRead(body) } else { try await body() }
    }

    /// - Throws: ``CommandError`` when it cannot be written; `Errno` if that is standard output.
    func write(_ message: Envelope) async throws {
        guard let file else { return }
        var line: [UInt8] = []
        try CloudEventFormat().write(message, to: &line)
        try await reportingErrors { [line] in try await file.append(line) }
        count += 1
    }

    /// Closes the file, on the disk and with its last line.
    /// - Returns: how many messages are in it; nil when it was never begun.
    func end() async throws -> Int? {
        guard let file else { return nil }
        self.file = nil
        try await write(JSONLine.text(RecordingEnd(messages: count)), to: file)
        if !isOutput { try await reportingErrors { try await file.closeOnDisk() } }
        return count
    }

    private func open() throws -> FileDescriptor {
        let creation: FileDescriptor.OpenOptions = overwrites ? [.create, .truncate] : [.create, .exclusiveCreate]
        do {
            // Opened otherwise, a pipe would hold up a thread that tasks share until somebody reads it.
            let file = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: creation.union(.nonBlocking),
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            _ = fcntl(file.rawValue, F_SETFL, fcntl(file.rawValue, F_GETFL) & ~O_NONBLOCK)
            return file
        } catch Errno.noSuchAddressOrDevice {
            throw CommandError(
                code: "recording.unread", "\(path) is a pipe that nobody reads", recovery: "start its reader first",
                status: .ioError)
        } catch Errno.fileExists {
            throw CommandError(
                code: "recording.exists", "\(path) exists already", recovery: "name another, or use --force")
        } catch let error as Errno {
            throw CommandError(code: "recording.unwritable", "\(path) cannot be made: \(error)", status: .ioError)
        }
    }

    private func write(_ line: String, to file: Console) async throws {
        try await reportingErrors { try await file.writeLine(line) }
    }

    private func reportingErrors(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as Errno where !isOutput {
            throw CommandError(code: "recording.unwritable", "\(path) cannot be written: \(error)", status: .ioError)
        }
    }
}
