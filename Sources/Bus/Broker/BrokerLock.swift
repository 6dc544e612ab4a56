internal import EventBus
internal import Foundation

/// Keeps a second broker from taking the sockets over: libzmq's bind would unlink the first one's without a word.
///
/// The lock goes with the process, however it ends, so that one left behind never bars the next broker.
final class BrokerLock {
    private let descriptor: Int32

    /// - Parameter directory: made, for its owner only, when it is not there.
    /// - Throws: ``BusError`` with code `address`.
    init(directory: String) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: attributes)
        } catch {
            throw BusError(.address, "the bus directory \(directory) cannot be made: \(error.localizedDescription)")
        }
        let path = "\(directory)/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw BusError(.address, "the lock \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw BusError(.address, "another broker serves ipc://\(directory): stop it or choose another address")
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
