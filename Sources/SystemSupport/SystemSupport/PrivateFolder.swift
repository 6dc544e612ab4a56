package import Foundation
import Glibc

/// A folder that only this user can enter: it belongs to the user, and the group and others have no rights.
///
/// The folder is opened without following a symbolic link, and its owner and mode are those of the open descriptor. What
/// is in it is read and removed through the descriptor, so another user cannot put another folder at its path in
/// between.
package final class PrivateFolder: Sendable {
    package let path: String
    private let descriptor: CInt

    private init(_ path: String, owning descriptor: CInt) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    // MARK: Opening

    /// Opens a folder. Nil if there is none.
    /// - Throws: ``PrivateFolderError``, also if the path is a symbolic link.
    package static func open(_ path: String) throws(PrivateFolderError) -> PrivateFolder? {
        try open(path, in: AT_FDCWD, path)
    }

    /// Opens a folder. Creates it if it does not exist and its parent does, so that no other user can create it
    /// afterwards. Nil if it does not exist and cannot be created.
    /// - Throws: ``PrivateFolderError``
    package static func claim(_ path: String) throws(PrivateFolderError) -> PrivateFolder? {
        mkdir(path, 0o700)
        return try open(path)
    }

    /// Creates a folder and its missing parents with mode 0700. Opens it if it exists.
    /// - Throws: ``PrivateFolderError``. The owner and the mode of an existing parent are not checked.
    @discardableResult
    package static func make(_ path: String) throws(PrivateFolderError) -> PrivateFolder {
        let parent = (path as NSString).deletingLastPathComponent
        if !parent.isEmpty, parent != path, access(parent, F_OK) != 0 { try make(parent) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .unusable(SystemError(path)) }
        guard let folder = try open(path) else { throw .unusable(SystemError(path, code: ENOENT)) }
        return folder
    }

    /// Opens a folder in this folder. Nil if there is none.
    /// - Throws: ``PrivateFolderError``
    package func folder(_ name: String) throws(PrivateFolderError) -> PrivateFolder? {
        try Self.open(name, in: descriptor, "\(path)/\(name)")
    }

    private static func open(
        _ name: String, in parent: CInt, _ path: String
    ) throws(PrivateFolderError) -> PrivateFolder? {
        let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            // Another user's folder, a symbolic link, and something that is not a folder.
            case EACCES, ELOOP, ENOTDIR: throw .insecure(path)
            default: throw .unusable(SystemError(path))
            }
        }
        let folder = PrivateFolder(path, owning: descriptor)
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw .unusable(SystemError(path)) }
        guard info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else { throw .insecure(path) }
        return folder
    }

    // MARK: Content

    /// The content of a file. Nil if there is no such file of this user, or if it is longer than `limit` bytes.
    package func contents(of name: String, limit: Int) -> Data? {
        // With O_NONBLOCK, opening a named pipe does not wait for a writer.
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid(),
            let content = try? handle.read(upToCount: limit + 1) ?? Data(), content.count <= limit
        else { return nil }
        return content
    }

    /// The content of a file that only this user can read. Nil if there is no such file.
    /// - Throws: ``PrivateFolderError`` if it is not a regular file of this user, if other users have rights on it, or if
    ///   it is longer than `limit` bytes.
    package func secret(_ name: String, limit: Int) throws(PrivateFolderError) -> Data? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw errno == ELOOP ? .irregular("\(path)/\(name)") : .unreadable(SystemError("\(path)/\(name)"))
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { throw .irregular("\(path)/\(name)") }
        guard info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else { throw .exposed("\(path)/\(name)") }
        guard let content = try? handle.read(upToCount: limit + 1) ?? Data(), content.count <= limit else {
            throw .unreadable(SystemError("\(path)/\(name)", code: EFBIG))
        }
        return content
    }

    /// The names of all files and folders; empty if they cannot be read.
    package var names: [String] {
        guard let directory = fdopendir(openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a file, a symbolic link, or a folder with its content. Does nothing if there is no such entry.
    /// - Throws: ``SystemError``
    package func remove(_ name: String) throws(SystemError) {
        if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return }
        guard errno == EISDIR || errno == EPERM else { throw SystemError("\(path)/\(name)") }
        // The owner and the mode of a folder in a private folder do not matter: no other user can exchange it.
        let inner = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard inner >= 0 else { throw SystemError("\(path)/\(name)") }
        let folder = PrivateFolder("\(path)/\(name)", owning: inner)
        for entry in folder.names { try folder.remove(entry) }
        guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw SystemError("\(path)/\(name)")
        }
    }
}

/// The reason why a folder cannot be used as a ``PrivateFolder``, or a file in it as a secret.
package struct PrivateFolderError: Error, Hashable, Sendable, CustomStringConvertible {
    package let message: String
    /// The remedy. Nil if there is none to add.
    package let recovery: String?
    /// True if the path exists, and is not a folder that only this user can enter.
    package let isInsecure: Bool

    package var description: String { recovery.map { "\(message); \($0)" } ?? message }

    fileprivate static func insecure(_ path: String) -> Self {
        Self(
            message: "\(path) is not a folder that only you can enter",
            recovery: "remove it, or run 'chmod 700' on it if it is yours", isInsecure: true)
    }

    fileprivate static func exposed(_ path: String) -> Self {
        Self(
            message: "\(path) is not a file that only you can read",
            recovery: "run 'chmod 600' on it if it is yours", isInsecure: true)
    }

    fileprivate static func irregular(_ path: String) -> Self {
        Self(
            message: "\(path) is not a file, but a link, a pipe or a folder",
            recovery: "replace it with the file itself", isInsecure: true)
    }

    fileprivate static func unreadable(_ error: SystemError) -> Self {
        Self(message: "cannot read \(error)", recovery: nil, isInsecure: false)
    }

    fileprivate static func unusable(_ error: SystemError) -> Self {
        Self(message: "cannot use the folder \(error)", recovery: nil, isInsecure: false)
    }
}
