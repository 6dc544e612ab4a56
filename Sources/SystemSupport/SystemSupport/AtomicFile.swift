package import Foundation
import Glibc

/// A file that is replaced as a whole: a reader sees the old content or the new content. The same is true after the
/// writer was killed.
package struct AtomicFile: Sendable {
    /// The suffix of the file that is being written. If a writer is killed, this file remains; the next writer removes
    /// it.
    package static let temporarySuffix = ".tmp"

    package let path: String
    private let mode: mode_t

    /// - Parameter mode: The permissions of the file, without those that the umask of the process removes. The new file
    ///   has them from its creation on.
    package init(_ path: String, mode: mode_t = 0o600) {
        self.path = path
        self.mode = mode
    }

    /// Replaces the content. Only one writer at a time may do this, unless all set `hasOtherWriters`. Otherwise one of
    /// them may fail, and a reader may see incomplete content.
    /// - Parameters:
    ///   - isDurable: If true, this function waits until the new content is on the disk, so that it survives a loss of
    ///     power. If false, the new content survives the end of this process, but after a loss of power the file may be
    ///     empty.
    ///   - hasOtherWriters: True if other processes may replace the content at the same time; the last one counts. Each
    ///     process then writes a temporary file of its own, and that of a killed writer is not removed.
    /// - Throws: ``SystemError``. The file then has its old content, unless only writing the folder to the disk failed.
    package func replace(
        with content: Data, isDurable: Bool = true, hasOtherWriters: Bool = false
    ) throws(SystemError) {
        let temporary = path + (hasOtherWriters ? ".\(getpid())" : "") + Self.temporarySuffix
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw SystemError(temporary) }
        do throws(SystemError) {
            defer { close(descriptor) }
            try writeAll(content, to: descriptor, temporary)
            // This is done before the rename. Otherwise, after a loss of power, the file may be empty under its new
            // name.
            if isDurable, fsync(descriptor) != 0 { throw SystemError(temporary) }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else {
            let error = SystemError(path)
            unlink(temporary)
            throw error
        }
        if isDurable { try synchronizeDirectory() }
    }

    /// Writes the folder to the disk. Otherwise a loss of power may undo the rename.
    private func synchronizeDirectory() throws(SystemError) {
        let parent = (path as NSString).deletingLastPathComponent
        let directory = parent.isEmpty ? "." : parent
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemError(directory) }
    }
}
