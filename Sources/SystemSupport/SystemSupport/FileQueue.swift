internal import Dispatch

/// Runs blocking file operations on a serial queue of its own. The threads of the cooperative pool must not block.
package struct FileQueue: Sendable {
    private let queue: DispatchQueue

    /// - Parameter label: The name of the queue, for debuggers.
    package init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs one operation at a time, in the order of the calls.
    package func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }
}
