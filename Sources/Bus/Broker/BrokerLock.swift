internal import EventBus
internal import Foundation

/// Keeps a second broker away from what one broker serves.
///
/// The lock goes with the process, however it ends, so that one left behind never bars the next broker.
final class BrokerLock {
    private let descriptor: Int32

    /// Locks a bus directory: libzmq's bind would unlink the first broker's sockets without a word.
    /// - Parameter directory: made, for its owner only, when it is not there.
    /// - Throws: ``BusError`` with code `address`.
    convenience init(directory: String) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: attributes)
        } catch {
            throw BusError(.address, "the bus directory \(directory) cannot be made: \(error.localizedDescription)")
        }
        try self.init(
            path: "\(directory)/lock", .address,
            taken: "another broker serves ipc://\(directory): stop it or choose another address")
    }

    /// Locks a journal, whatever the address it is served at. The file beside it: to close the journal's own would end the
    /// locks that SQLite has on it.
    /// - Throws: ``BusError`` with code `journal`.
    convenience init(journal: String) throws {
        let path = URL(fileURLWithPath: journal).resolvingSymlinksInPath().path
        try self.init(
            path: "\(path).lock", .journal,
            taken: "another broker serves the journal \(journal): stop it or choose another file")
    }

    private init(path: String, _ code: BusError.Code, taken: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw BusError(code, "the lock \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw BusError(code, taken)
        }
        self.descriptor = descriptor
    }

    deinit {
        // A child that is being spawned has a copy of the descriptor until its exec: to close this one alone would leave the
        // lock to it for that long.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
