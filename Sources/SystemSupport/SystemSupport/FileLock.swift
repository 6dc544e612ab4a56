import Glibc

/// A lock on a file or a folder (flock(2)). A process holds the lock until it releases the lock or ends, even if it is
/// killed.
package final class FileLock: Sendable {
    private let descriptor: CInt

    /// Locks a file. If the file does not exist, creates it with mode 0600.
    /// - Parameter path: A file that is used only for this lock.
    /// - Returns: Nil if another process, or another lock of this process, holds the lock.
    /// - Throws: ``SystemError`` if the file cannot be opened or locked, or is a symbolic link.
    package static func acquire(_ path: String) throws(SystemError) -> FileLock? {
        // The descriptor is closed on exec. Otherwise a child process would keep the lock after this process ends.
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(path) }
        return try lock(descriptor, of: path)
    }

    /// Locks a folder itself: a lock file in it would be removed with its other content, and made again too early.
    /// - Returns: Nil if there is no such folder, or if another process, or another lock of this process, holds the
    ///   lock.
    /// - Throws: ``SystemError`` if the folder cannot be opened or locked, or is a symbolic link.
    package static func acquire(folder path: String) throws(SystemError) -> FileLock? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let error = SystemError(path)
            guard error.code == ENOENT else { throw error }
            return nil
        }
        guard let lock = try lock(descriptor, of: path) else { return nil }
        // The holder before may have removed the folder after it was opened and before it was locked.
        var locked = stat()
        var named = stat()
        guard fstat(descriptor, &locked) == 0, lstat(path, &named) == 0, locked.st_dev == named.st_dev,
            locked.st_ino == named.st_ino
        else { return nil }
        return lock
    }

    private static func lock(_ descriptor: CInt, of path: String) throws(SystemError) -> FileLock? {
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

    /// Releases the lock now. Without this call the lock is released when the last reference to it is dropped, which
    /// can be right after its last use and well before the end of its scope.
    package func release() {
        // A child that is being spawned has a copy of the descriptor until its exec. If this process only closed its
        // own descriptor, the child would hold the lock until then.
        flock(descriptor, LOCK_UN)
    }
}
