import Glibc

/// Held by the one supervisor of a project, for as long as it lives: the kernel lets go of it even after a `kill -9`.
struct ProjectLock: ~Copyable {
    private let descriptor: CInt

    /// - Returns: `nil` when another process holds it.
    /// - Throws: ``ComposeError`` when the file cannot be made.
    static func acquire(_ project: Project) throws(ComposeError) -> ProjectLock? {
        try RuntimeDirectory.make(project.stateDirectory)
        // Close-on-exec, or a service would inherit the lock and keep it after the supervisor.
        let descriptor = Glibc.open(project.lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw ComposeError(code: "lock", message: "cannot open \(project.lockPath): \(reason)")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return ProjectLock(descriptor: descriptor)
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
