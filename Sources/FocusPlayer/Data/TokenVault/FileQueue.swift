internal import Dispatch

/// Runs what waits for the disk on a queue of its own: the cooperative pool must not block.
struct FileQueue: Sendable {
    private let queue = DispatchQueue(label: "segue.token-vault")

    /// Runs one piece of work after the other.
    func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }
}
