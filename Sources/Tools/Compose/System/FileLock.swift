import Glibc

/// A lock of a file that one process holds for as long as it lives: the kernel lets go of it even after a `kill -9`.
struct FileLock: ~Copyable {
    private let descriptor: CInt

    /// - Returns: `nil` when another process holds it.
    /// - Throws: ``ComposeError`` when the file cannot be made.
    static func acquire(_ path: String) throws(ComposeError) -> FileLock? {
        // Close-on-exec, or a child would inherit the lock and keep it after this process.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw ComposeError(code: "lock", message: "cannot open \(path): \(reason)")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return FileLock(descriptor: descriptor)
    }

    private init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        // A child that is being spawned has a copy of the descriptor until its exec: to close this one alone would leave the
        // lock to it for that long.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Ends the lock here, and not where the compiler finds its last use.
    consuming func release() {}
}
