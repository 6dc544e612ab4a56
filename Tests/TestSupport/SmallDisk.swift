internal import Foundation
internal import Glibc

/// A file system of a fixed size at a folder, which only one process and its children see. It is in memory, and is gone
/// when they have ended.
package struct SmallDisk: Hashable, Sendable {
    package let folder: String
    /// The size as `mount` reads it, such as `64m`.
    private let size: String

    package init(at folder: String, size: String) {
        (self.folder, self.size) = (folder, size)
    }

    /// True if disks can be mounted here: see ``MountNamespace/isAllowed``.
    package static var isAllowed: Bool { MountNamespace.isAllowed }

    /// The command line that mounts the disk and then becomes `command`.
    package func command(_ command: [String]) -> [String] {
        let script = #"mkdir -p "$0" && mount -t tmpfs -o size=\#(size) none "$0" && exec "$@""#
        return MountNamespace.command + ["sh", "-c", script, folder] + command
    }

    private func filler(of pid: Int32) -> String { "/proc/\(pid)/root\(folder)/filler" }

    /// Fills the disk of a process up to the last block.
    package func fill(of pid: Int32) throws {
        let descriptor = open(filler(of: pid), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        for size in [zeros.count, 512] {
            while write(descriptor, zeros, size) > 0 {}
        }
    }

    /// Makes room again.
    package func makeRoom(of pid: Int32) throws {
        try FileManager.default.removeItem(atPath: filler(of: pid))
    }
}
