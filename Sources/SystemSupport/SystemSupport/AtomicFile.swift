package import Foundation
import Glibc

/// A file that is replaced as a whole: a reader sees the old content or the new, and a crash leaves one of them.
package struct AtomicFile: Sendable {
    /// Ends the name of what is being written. A file of that name is left when a writer is killed; the next one removes it.
    package static let temporarySuffix = ".tmp"

    package let path: String
    private let mode: mode_t

    /// - Parameter mode: the file never has another one, not for a moment.
    package init(_ path: String, mode: mode_t = 0o600) {
        self.path = path
        self.mode = mode
    }

    /// Replaces the content. Of two writers at the same time one fails.
    /// - Parameter isDurable: whether the new content must survive a loss of power when this returns, and not only a kill of
    ///   any process: that waits for the disk.
    /// - Throws: ``SystemError``; the file is as it was then.
    package func replace(with content: Data, isDurable: Bool = true) throws(SystemError) {
        let temporary = path + Self.temporarySuffix
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw SystemError(temporary) }
        do throws(SystemError) {
            defer { close(descriptor) }
            try Self.write(content, to: descriptor, temporary)
            // Before the rename: otherwise a loss of power may leave the new name with no content.
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

    private static func write(_ content: Data, to descriptor: CInt, _ path: String) throws(SystemError) {
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(path) }
            rest = rest.dropFirst(count)
        }
    }

    /// The rename itself is only on disk when the directory is.
    private func synchronizeDirectory() throws(SystemError) {
        let parent = (path as NSString).deletingLastPathComponent
        let directory = parent.isEmpty ? "." : parent
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemError(directory) }
    }
}
