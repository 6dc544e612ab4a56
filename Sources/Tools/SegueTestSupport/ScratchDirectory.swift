internal import Foundation

/// A folder of one test's own: short, because sockets lie in it, and gone with the test.
struct ScratchDirectory {
    let path: String

    static func with<Result>(_ body: (ScratchDirectory) async throws -> Result) async throws -> Result {
        let path = "/tmp/segue-\(UUID().uuidString.prefix(8).lowercased())"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(ScratchDirectory(path: path))
    }
}
