internal import EventBus
internal import Foundation
internal import SystemSupport

/// The file that a journal was opened from.
struct JournalFile {
    private let path: String
    private let identity: Identity

    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    /// Creates the file if there is none, and takes the rights of other users away from it and from the files that
    /// SQLite keeps beside it.
    /// - Returns: The path without symbolic links.
    /// - Throws: ``BusError`` with code `journal` if the file belongs to another user.
    static func restrict(_ path: String) throws(BusError) -> String {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        do {
            try PrivateFile.claim(file)
            for suffix in ["-wal", "-shm", "-journal"] { try PrivateFile.claim(file + suffix, createsFile: false) }
            return file
        } catch {
            throw BusError(
                .journal, "the journal \(path) cannot be opened: \(error); use a file and a folder of your own")
        }
    }

    /// - Throws: ``BusError`` with code `journal` if there is no such file.
    init(path: String) throws {
        self.path = path
        guard let identity = Self.identity(path) else { throw Self.gone(path) }
        self.identity = identity
    }

    /// - Throws: ``BusError`` with code `journal` if there is another file or no file at the path.
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
            "the journal \(path) was removed or replaced while the broker used it; "
                + "restore it and start the broker again"
        )
    }
}
