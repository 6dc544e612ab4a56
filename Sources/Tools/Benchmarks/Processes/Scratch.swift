internal import Foundation

/// A folder that only its owner may enter, for sockets and journals, gone afterwards.
struct Scratch: Sendable {
    let path: String

    /// In `/var/tmp`: `/tmp` may lie in memory, where a journal costs nothing; and a socket's path must be short.
    static func with<Result>(_ body: (Scratch) async throws -> Result) async throws -> Result {
        let path = "/var/tmp/segue-bench-\(UUID().uuidString.prefix(8).lowercased())"
        let scratch = Scratch(path: path)
        try scratch.make(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(scratch)
    }

    /// Makes a folder inside, and gives its path.
    func folder(_ name: String) throws -> String {
        try make("\(path)/\(name)")
        return "\(path)/\(name)"
    }

    private func make(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw BenchmarkError("the folder \(path) cannot be made: \(error.localizedDescription)")
        }
    }
}
