internal import Synchronization

/// The state of a view: what the page has not been sent yet.
package protocol ViewState: Sendable {
    /// True if there is something to send.
    var hasNews: Bool { get }

    /// Removes and returns the changes as a JSON object. Nil if there are none.
    /// - Parameter size: About the number of bytes that the object should have at most.
    mutating func dequeueUpdate(size: Int) -> [UInt8]?
}

/// A view of a stream: a feature changes its state, and the stream sends the changes.
package final class PageView<State: ViewState>: StreamView {
    private struct Content {
        var state: State
        /// Nil until the view is open.
        var signal: StreamSignal?
        var isClosed = false
    }

    private let content: Mutex<Content>

    package init(_ state: State) {
        content = Mutex(Content(state: state))
    }

    /// Changes the state, and wakes the stream if there is something to send. Has no effect on a closed view.
    package func change(_ change: (inout State) -> Void) {
        let signal = content.withLock { content -> StreamSignal? in
            if content.isClosed { return nil }
            change(&content.state)
            return content.state.hasNews ? content.signal : nil
        }
        signal?.wake()
    }

    /// True if the page has closed or replaced the view, or if its stream has ended.
    package var isClosed: Bool { content.withLock { $0.isClosed } }

    package var hasNews: Bool { content.withLock { $0.state.hasNews } }

    package func dequeueUpdate(size: Int) -> [UInt8]? { content.withLock { $0.state.dequeueUpdate(size: size) } }

    package func open(_ signal: StreamSignal) { content.withLock { $0.signal = signal } }

    package func close() { content.withLock { $0.isClosed = true } }
}

/// A view as its stream uses it. Its methods may be called on any thread.
package protocol StreamView: AnyObject, Sendable {
    /// True if there is something to send.
    var hasNews: Bool { get }

    /// Removes and returns the changes as a JSON object. Nil if there are none.
    /// - Parameter size: About the number of bytes that the object should have at most.
    func dequeueUpdate(size: Int) -> [UInt8]?

    /// Begins to wake a stream when there is something to send.
    func open(_ signal: StreamSignal)

    /// Ends the view. It is called once the page has closed or replaced the view, or its stream has ended.
    func close()
}

/// Wakes the connection of a stream.
package final class StreamSignal: Sendable {
    private let continuation = Mutex<AsyncStream<Void>.Continuation?>(nil)

    /// Tells the connection that there may be something to send. Has no effect while there is no connection.
    func wake() {
        continuation.withLock { $0 }?.yield()
    }

    /// Begins a connection, and ends the one before.
    /// - Returns: A sequence with an element when there may be something to send. It ends with the connection.
    func connect() -> AsyncStream<Void> {
        let (wakes, new) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        replace(with: new)?.finish()
        return wakes
    }

    /// Ends the connection.
    func disconnect() {
        replace(with: nil)?.finish()
    }

    private func replace(with new: AsyncStream<Void>.Continuation?) -> AsyncStream<Void>.Continuation? {
        continuation.withLock { current in
            defer { current = new }
            return current
        }
    }
}
