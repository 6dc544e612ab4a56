internal import Foundation

/// A small 0600 file that is replaced as a whole: a reader sees the old content or the new, a crash leaves one of them.
struct AtomicFile: Sendable {
    static let temporarySuffix = ".tmp"
    /// Nothing kept here comes near it; a larger file is not ours.
    private static let maximumSize = 1 << 20

    let path: String

    /// The content; nil if there is no file.
    /// - Throws: `TokenStoreError` if it cannot be read, or others can read it.
    func read() throws -> Data? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw VaultFailure.cannotUse(path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw VaultFailure.cannotUse(path, reason: "it is not a file")
        }
        guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
            throw VaultFailure.exposed(path, mode: "600")
        }
        guard status.st_size <= Self.maximumSize else { throw VaultFailure.corrupt(path) }
        return try readAll(descriptor, size: Int(status.st_size))
    }

    /// Replaces the content. Returns when the new one survives a crash.
    func replace(with content: Data) throws {
        let temporary = path + Self.temporarySuffix
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw VaultFailure.cannotUse(temporary) }
        do {
            defer { close(descriptor) }
            try writeAll(content, to: descriptor)
            // Before the rename: otherwise a power cut may leave the new name with no content.
            guard fsync(descriptor) == 0 else { throw VaultFailure.cannotUse(temporary) }
        }
        guard rename(temporary, path) == 0 else { throw VaultFailure.cannotUse(path) }
        try synchronizeDirectory()
    }

    private func readAll(_ descriptor: Int32, size: Int) throws -> Data {
        var content = Data(count: size)
        var filled = 0
        while filled < size {
            let count = content.withUnsafeMutableBytes { buffer in
                Foundation.read(descriptor, buffer.baseAddress?.advanced(by: filled), size - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw VaultFailure.cannotUse(path) }
            filled += count
        }
        return content
    }

    private func writeAll(_ content: Data, to descriptor: Int32) throws {
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw VaultFailure.cannotUse(path) }
            rest = rest.dropFirst(count)
        }
    }

    /// The rename itself is only on disk when the directory is.
    private func synchronizeDirectory() throws {
        let directory = (path as NSString).deletingLastPathComponent
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw VaultFailure.cannotUse(directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw VaultFailure.cannotUse(directory) }
    }
}
