internal import Dispatch
internal import Foundation

/// What is piped into a command.
enum StandardInput {
    private static let queue = DispatchQueue(label: "standard-input")

    /// Its lines, each as soon as it is there: reading waits on a thread of its own, never on one that tasks share.
    static var lines: AsyncStream<String> {
        AsyncStream {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: readLine()) }
            }
        }
    }

    /// All of it, to its end.
    static func text() throws -> String {
        String(decoding: try FileHandle.standardInput.readToEnd() ?? Data(), as: UTF8.self)
    }
}
