import Glibc

/// A lock of a file (flock(2)) that one process holds until it releases it or ends, however it ends: one left by a process
/// that was killed never bars the next.
package final class FileLock: Sendable {
    private let descriptor: CInt

    /// Locks a file, which is made with mode 0600 when there is none.
    /// - Parameter path: of a file for this alone: to close any other descriptor of SQLite's file, for example, would end
    ///   SQLite's own locks on it.
    /// - Returns: nil when another process, or another lock of this one, holds it.
    /// - Throws: ``SystemError`` when the file cannot be opened, or is a symbolic link.
    package static func acquire(_ path: String) throws(SystemError) -> FileLock? {
        // Closed on exec: a child would keep the lock after this process.
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = SystemError(path)
            close(descriptor)
            guard error.code == EWOULDBLOCK else { throw error }
            return nil
        }
        return FileLock(descriptor)
    }

    private init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        release()
        close(descriptor)
    }

    /// Releases the lock now. Without this it is released when the last reference to it goes, which can be right after its last
    /// use and well before the end of its scope.
    package func release() {
        // A child that is being spawned has a copy of the descriptor until its exec: to close this one alone would leave the
        // lock to it for that long.
        flock(descriptor, LOCK_UN)
    }
}
