internal import Dispatch

/// A person's Enter, on standard input.
enum EnterKey {
    private static let queue = DispatchQueue(label: "enter-key")

    /// Waits on a thread of its own, which nothing can wake: when the task is cancelled it is left behind.
    /// - Returns: false when there is no input any more, or the task is cancelled.
    static func wait() async -> Bool {
        let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
        queue.async {
            continuation.yield(readLine() != nil)
            continuation.finish()
        }
        return await answers.first { _ in true } ?? false
    }
}
