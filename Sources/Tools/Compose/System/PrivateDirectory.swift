import Foundation
import Glibc

/// Creates folders with mode 0700.
enum PrivateDirectory {
    /// Creates a folder and its missing parents, with mode 0700.
    ///
    /// - Throws: ``ComposeError`` `directory` if the folder cannot be created; `insecure-directory` if the path exists
    ///   and is a symbolic link or not a folder, belongs to another user, or has a right for the group or for others.
    static func make(_ path: String) throws(ComposeError) {
        let parent = (path as NSString).deletingLastPathComponent
        if access(parent, F_OK) != 0, parent != path { try make(parent) }
        if mkdir(path, 0o700) == 0 { return }
        guard errno == EEXIST else {
            let reason = String(cString: strerror(errno))
            throw ComposeError(code: "directory", message: "cannot create the folder \(path): \(reason)")
        }
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, info.st_uid == geteuid(),
            info.st_mode & 0o077 == 0
        else {
            throw ComposeError(
                code: "insecure-directory",
                message: "\(path) is not a folder that only you can enter",
                recovery: "remove it, or run 'chmod 700' on it if it is yours"
            )
        }
    }
}
