import Foundation

extension Project {
    /// Keeps the stack for whoever starts the project again without its file. It may hold secrets: nobody else reads it.
    func save(_ stack: Stack) throws(ComposeError) {
        try write(stack, to: stackPath)
    }

    func write(_ stack: Stack, to path: String) throws(ComposeError) {
        do {
            // The folder is 0700, so that nobody can come between the two steps.
            try Data(stack.text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            throw ComposeError(code: "stack-file", message: "cannot write \(path): \(error)")
        }
    }

    /// The stack as it was last asked for; `nil` when the project was never started here.
    package func savedStack() throws(ComposeError) -> Stack? {
        guard FileManager.default.fileExists(atPath: stackPath) else { return nil }
        do {
            return try Stack(text: String(contentsOfFile: stackPath, encoding: .utf8))
        } catch {
            throw ComposeError(
                code: "stack-file", message: "cannot read \(stackPath)", recovery: "start the project with 'segue up'")
        }
    }
}
