import Foundation
import Glibc
import Support
import SystemPackage

/// Appends to the newest file of a log, and begins a new file when the newest is full.
///
/// A log has only one writer at a time: the process that holds the project's lock.
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

    /// Appends whole records: all of them, or none if this throws.
    ///
    /// - Throws: `Errno`.
    func append(_ records: [UInt8]) throws {
        if size > 0, size + Int64(records.count) > retention.fileSize { try beginFile() }
        do {
            try file.writeAll(records)
            size += Int64(records.count)
        } catch {
            // Removes a part of the records that has been written; otherwise the next record would continue an
            // incomplete line.
            ftruncate(file.rawValue, off_t(size))
            throw error
        }
    }

    /// Begins a new file, then removes the oldest files beyond the limit.
    private func beginFile() throws {
        let next = try Self.open(files.path(number + 1))
        try? file.close()
        (file, number, size) = (next, number + 1, 0)
        for old in files.numbers where old <= number - retention.files { unlink(files.path(old)) }
    }

    /// Ends an incomplete record that was left by a killed writer or a power failure.
    private func endTornRecord() throws {
        guard size > 0 else { return }
        let last = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { buffer in
            try file.read(fromAbsoluteOffset: size - 1, into: buffer) == 1 ? buffer[0] : nil
        }
        if last != UInt8(ascii: "\n") { try append([UInt8(ascii: "\n")]) }
    }

    private static func open(_ path: String) throws -> FileDescriptor {
        // check-lines: a log is in the private folder of the project, and is appended to.
        let options: FileDescriptor.OpenOptions = [.create, .append, .closeOnExec]
        return try FileDescriptor.open(FilePath(path), .readWrite, options: options, permissions: [.ownerReadWrite])
    }
}

/// The limits of a log's size.
package struct LogRetention: Sendable, Equatable {
    /// The maximum size of a file in bytes. Records that would exceed it begin a new file. Only records that are
    /// written together to an empty file may exceed it.
    package var fileSize: Int
    /// The maximum number of files, including the file that is being written. Beyond it, the oldest are removed.
    package var files: Int

    package init(fileSize: Int = 10 << 20, files: Int = 3) {
        self.fileSize = max(fileSize, 1)
        self.files = max(files, 1)
    }
}

/// The files of one log: `NAME.1.log`, `NAME.2.log` and so on. The newest is written to; the oldest are removed.
///
/// Files are not renamed.
struct LogFiles: Sendable, Hashable {
    private static let suffix = ".log"

    let directory: String
    let name: String

    func path(_ number: Int) -> String { "\(directory)/\(name).\(number)\(Self.suffix)" }

    /// The numbers of the existing files, oldest first.
    var numbers: [Int] {
        Self.list(directory).filter { $0.name == name }.map(\.number).sorted()
    }

    /// The names of all logs in a folder.
    static func names(in directory: String) -> Set<String> {
        Set(list(directory).map(\.name))
    }

    private static func list(_ directory: String) -> [(name: String, number: Int)] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.compactMap { file in
            // The name of a log can contain dots.
            guard let (name, digits) = file.removing(suffix: suffix)?.cut(atLast: "."), !name.isEmpty,
                let number = Int(digits), number > 0
            else { return nil }
            return (String(name), number)
        }
    }
}
