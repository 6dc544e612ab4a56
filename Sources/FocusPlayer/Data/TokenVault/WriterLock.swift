internal import Foundation

/// Held by the one process that may write to the vault, until it ends, however it ends.
final class WriterLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `TokenStoreError` at once if another process holds it.
    init(in directory: VaultDirectory) throws {
        let path = directory.file("lock")
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw VaultFailure.cannotUse(path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno == EWOULDBLOCK ? VaultFailure.taken(directory.path) : VaultFailure.cannotUse(path)
            close(descriptor)
            throw error
        }
    }

    deinit {
        // A child that is being spawned has a copy of the descriptor until it becomes another program: closing this one alone
        // would leave the lock to it for that long.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
