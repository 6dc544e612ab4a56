import Foundation

extension Project {
    /// Keeps the stack for whoever starts the project again without its file.
    ///
    /// It may hold secrets. The folder is 0700, so that nobody can come between the two steps.
    func save(_ stack: Stack) throws(ComposeError) {
        do {
            try Data(stack.text.utf8).write(to: URL(fileURLWithPath: stackPath), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: stackPath)
        } catch {
            throw ComposeError(code: "stack-file", message: "cannot write \(stackPath): \(error)")
        }
    }

    /// The stack as it was last asked for; `nil` when the project was never started here.
    ///
    /// - Throws: ``ComposeError`` `stack-file`.
    package func savedStack() throws(ComposeError) -> Stack? {
        guard FileManager.default.fileExists(atPath: stackPath) else { return nil }
        do {
            return try Stack(text: String(contentsOfFile: stackPath, encoding: .utf8))
        } catch {
            throw ComposeError(
                code: "stack-file", message: "cannot read the stack in \(stackPath)",
                recovery: "start the project with 'segue up'")
        }
    }
}
