import Glibc

/// Files that only this user can read and write, whatever the umask.
package enum PrivateFile {
    /// Creates an empty file with mode 0600. Takes the rights of the group and of others away from a file that exists.
    ///
    /// Use this before a library opens a file by its path. SQLite gives the files beside a database the mode of the
    /// database, so claim these only if they exist.
    /// - Parameter createsFile: False to leave a missing file missing.
    /// - Throws: ``SystemError``: `EPERM` if the file belongs to another user, `ELOOP` if it is a symbolic link,
    ///   `EINVAL` if it is not a regular file.
    package static func claim(_ path: String, createsFile: Bool = true) throws(SystemError) {
        // With O_NONBLOCK, opening a named pipe does not wait.
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (createsFile ? O_CREAT : 0)
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else {
            if errno == ENOENT, !createsFile { return }
            throw SystemError(path)
        }
        defer { close(descriptor) }
        guard try restrict(descriptor, path) else { throw SystemError(path, code: EINVAL) }
    }

    /// Takes the rights of the group and of others away from an open file.
    /// - Returns: False if it is not a regular file. Its mode is not changed then.
    /// - Throws: ``SystemError``: `EPERM` if the file belongs to another user.
    @discardableResult
    package static func restrict(_ descriptor: CInt, _ path: String) throws(SystemError) -> Bool {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw SystemError(path) }
        guard info.st_mode & S_IFMT == S_IFREG else { return false }
        guard info.st_uid == geteuid() else { throw SystemError(path, code: EPERM) }
        if info.st_mode & 0o077 != 0, fchmod(descriptor, info.st_mode & 0o700) != 0 { throw SystemError(path) }
        return true
    }
}
