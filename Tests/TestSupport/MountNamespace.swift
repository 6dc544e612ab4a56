internal import Foundation
internal import Glibc

/// A separate mount namespace, for a small disk that other processes do not see.
package enum MountNamespace {
    /// The beginning of a command line; the command that follows runs in the namespace.
    package static let command =
        ["/usr/bin/unshare"] + (getuid() == 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"])

    package static let isAllowed: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = command.dropFirst() + ["sh", "-c", "mount -t tmpfs none /mnt"]
        (process.standardOutput, process.standardError) = (nil, nil)
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
