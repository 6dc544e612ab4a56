import Foundation

extension Project {
    /// Keeps the stack for whoever starts the project again without its file.
    func save(_ stack: Stack) throws(ComposeError) {
        try write(stack, to: stackPath)
    }

    /// The stack as it was last asked for; `nil` when the project was never started here.
    package func savedStack() throws(ComposeError) -> Stack? {
        guard FileManager.default.fileExists(atPath: stackPath) else { return nil }
        return try Self.stack(at: stackPath)
    }

    /// Has a resolved stack in a file of its own for as long as `body` runs: a supervisor that is started reads it.
    package func withFile<R>(of stack: Stack, _ body: (_ path: String) async throws -> R) async throws -> R {
        try RuntimeDirectory.make(stateDirectory)
        let path = "\(stateDirectory)/stack-\(UUID().uuidString).yaml"
        try write(stack, to: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }

    /// - Throws: ``ComposeError`` `stack-file`.
    package static func stack(at path: String) throws(ComposeError) -> Stack {
        do {
            return try Stack(text: String(contentsOfFile: path, encoding: .utf8))
        } catch {
            throw ComposeError(
                code: "stack-file", message: "cannot read the stack in \(path)",
                recovery: "start the project with 'segue up'")
        }
    }

    /// A stack may hold secrets. The folder is 0700, so that nobody can come between the two steps.
    private func write(_ stack: Stack, to path: String) throws(ComposeError) {
        do {
            try Data(stack.text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            throw ComposeError(code: "stack-file", message: "cannot write \(path): \(error)")
        }
    }
}
