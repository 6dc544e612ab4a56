import Glibc
import SystemPackage

/// Appends to the newest file of a log, and begins a new one when that is full.
///
/// There is one for a log at any time: whoever holds the project's lock.
final class LogWriter {
    private let files: LogFiles
    private let retention: LogRetention
    private var number: Int
    private var file: FileDescriptor
    private var size: Int64

    /// - Throws: ``ComposeError`` `log-file`.
    init(_ files: LogFiles, retention: LogRetention) throws(ComposeError) {
        self.files = files
        self.retention = retention
        number = files.numbers.last ?? 1
        do {
            file = try Self.open(files.path(number))
            size = try file.seek(offset: 0, from: .end)
            try endTornRecord()
        } catch {
            throw ComposeError(code: "log-file", message: "cannot write \(files.path(number)): \(error)")
        }
    }

    deinit {
        try? file.close()
    }

    /// Appends whole records, all or none.
    ///
    /// - Throws: `Errno`.
    func append(_ records: [UInt8]) throws {
        if size > 0, size + Int64(records.count) > retention.fileSize { try beginFile() }
        do {
            try file.writeAll(records)
            size += Int64(records.count)
        } catch {
            // What fitted of it would be the beginning of the next record's line.
            ftruncate(file.rawValue, off_t(size))
            throw error
        }
    }

    /// The new file is there before the oldest is gone: a reader that finds its file removed finds a newer one.
    private func beginFile() throws {
        let next = try Self.open(files.path(number + 1))
        try? file.close()
        (file, number, size) = (next, number + 1, 0)
        for old in files.numbers where old <= number - retention.files { unlink(files.path(old)) }
    }

    /// A writer that was killed, or a machine that lost its power, may have left half a record.
    private func endTornRecord() throws {
        guard size > 0 else { return }
        let last = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { buffer in
            try file.read(fromAbsoluteOffset: size - 1, into: buffer) == 1 ? buffer[0] : nil
        }
        if last != UInt8(ascii: "\n") { try append([UInt8(ascii: "\n")]) }
    }

    private static func open(_ path: String) throws -> FileDescriptor {
        try FileDescriptor.open(
            FilePath(path), .readWrite, options: [.create, .append, .closeOnExec], permissions: [.ownerReadWrite])
    }
}
