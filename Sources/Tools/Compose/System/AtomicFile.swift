import Glibc
import SystemPackage

/// A file that is replaced as a whole: a reader sees the old content or the new.
enum AtomicFile {
    /// - Parameters:
    ///   - mode: the file never has another one, not for a moment.
    ///   - isDurable: whether the new content must survive a loss of power when this returns, which waits for the disk.
    /// - Throws: `Errno`; the file is as it was then.
    static func replace(
        _ path: String, with content: some Sequence<UInt8>, mode: FilePermissions = [.ownerReadWrite],
        isDurable: Bool = false
    ) throws(Errno) {
        let temporary = path + ".tmp"
        unlink(temporary)
        do {
            let file = try FileDescriptor.open(
                FilePath(temporary), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: mode)
            try file.closeAfter {
                try file.writeAll(content)
                // Before the rename: otherwise a loss of power may leave the new name with no content.
                if isDurable, fsync(file.rawValue) != 0 { throw Errno(rawValue: errno) }
            }
            guard rename(temporary, path) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlink(temporary)
            throw error as? Errno ?? .ioError
        }
    }
}
