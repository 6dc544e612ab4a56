import Foundation
import Glibc

extension SystemdFile {
    /// Puts files into a folder, in the place of those of the same names.
    ///
    /// - Throws: ``ComposeError`` `export-write`.
    package static func write(_ files: [SystemdFile], to directory: String) throws(ComposeError) {
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw failure("make the folder \(directory)")
        }
        for file in files { try file.write(to: "\(directory)/\(file.name)") }
    }

    /// What is secret never has another mode, not for a moment; and a reader sees the old file or the new one.
    private func write(to path: String) throws(ComposeError) {
        let temporary = "\(path).new"
        unlink(temporary)
        let descriptor = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw Self.failure("write \(path)") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(text.utf8))
            try handle.close()
        } catch {
            throw Self.failure("write \(path)")
        }
        guard rename(temporary, path) == 0 else { throw Self.failure("write \(path)") }
    }

    private static func failure(_ what: String) -> ComposeError {
        let reason = String(cString: strerror(errno))
        return ComposeError(
            code: "export-write", message: "cannot \(what): \(reason)", recovery: "name another with -o")
    }
}
