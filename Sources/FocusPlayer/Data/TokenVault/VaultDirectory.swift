internal import Foundation

/// The directory that holds the vault: 0700, and so no business of other users.
struct VaultDirectory: Sendable {
    let path: String

    init(_ path: String) {
        // A path that ends in a slash would otherwise show up as `//` in every error.
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Makes the directory unless it is there.
    /// - Throws: `TokenStoreError` if it cannot be made, or others can look into it.
    func make() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw VaultFailure.cannotUse(path, reason: (error as NSError).localizedDescription)
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw VaultFailure.cannotUse(path, reason: "it is not a directory")
        }
        guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
            throw VaultFailure.exposed(path, mode: "700")
        }
    }

    /// Removes what a writer that was killed left half written.
    ///
    /// Only for the owner of the lock: everybody else's temporary files are dead.
    func removeLeftovers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where name.hasSuffix(AtomicFile.temporarySuffix) {
            unlink(file(name))
        }
    }
}
