import Foundation

enum Shell {
    struct Failure: Error {
        let status: Int32
        let output: String
    }

    /// What a script printed.
    ///
    /// - Throws: ``Failure`` when its status is not 0.
    @discardableResult
    static func run(_ script: String, _ arguments: String...) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script] + arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(status: process.terminationStatus, output: output)
        }
        return output
    }
}
