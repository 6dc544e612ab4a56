public import EventBus
internal import Synchronization

/// All messages of the bus so far, and the tasks that wait for further messages.
public final class Transcript: Sendable {
    private struct State {
        var messages: [Envelope] = []
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastWatcher = 0
    }

    private let state = Mutex(State())

    public init() {}

    public var messages: [Envelope] { state.withLock(\.messages) }

    func append(_ message: Envelope) {
        let watchers = state.withLock { state in
            state.messages.append(message)
            return Array(state.watchers.values)
        }
        watchers.forEach { $0.yield() }
    }

    /// Waits until `find` returns a result for the messages so far.
    func first<Result>(_ find: ([Envelope]) throws -> Result?) async throws -> Result {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watcher = state.withLock { state in
            state.lastWatcher += 1
            state.watchers[state.lastWatcher] = continuation
            return state.lastWatcher
        }
        defer { state.withLock { state in state.watchers[watcher] = nil } }
        if let result = try find(messages) { return result }
        for await _ in changes {
            if let result = try find(messages) { return result }
        }
        throw CancellationError()
    }
}
