internal import EventBus
internal import Foundation

/// The file that a journal was opened from.
struct JournalFile {
    private let path: String
    private let identity: Identity

    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    /// - Throws: ``BusError`` with code `journal` when there is no such file.
    init(path: String) throws {
        self.path = path
        guard let identity = Self.identity(path) else { throw Self.gone(path) }
        self.identity = identity
    }

    /// - Throws: ``BusError`` with code `journal` when another file, or none, is at the path: what is written to the one
    ///   that is open would be gone with the process.
    func check() throws {
        guard Self.identity(path) == identity else { throw Self.gone(path) }
    }

    private static func identity(_ path: String) -> Identity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Identity(device: status.st_dev, inode: status.st_ino)
    }

    private static func gone(_ path: String) -> BusError {
        BusError(
            .journal,
            "the journal \(path) was removed or replaced while it was served: start the broker again, on the file that is to count"
        )
    }
}
