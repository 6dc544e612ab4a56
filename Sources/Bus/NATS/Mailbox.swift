internal import DequeModule
internal import Synchronization

/// A bounded buffer between a thread that receives and never waits, and one task that reads.
final class Mailbox<Element: Sendable>: Sendable {
    private struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Element?, any Error>
    }

    private struct State {
        var elements: Deque<Element> = []
        var waiter: Waiter?
        var lastNumber: UInt64 = 0
        /// The way in which the mailbox has ended. Nil while it is open.
        var end: Result<Void, any Error>?
    }

    /// The maximum number of elements that wait.
    private let limit: Int
    private let deadlines: Deadlines
    private let state = Mutex(State())

    init(limit: Int, deadlines: Deadlines) {
        self.limit = limit
        self.deadlines = deadlines
    }

    /// Adds an element.
    /// - Returns: False if the buffer is full; then the element is dropped.
    @discardableResult
    func put(_ element: Element) -> Bool {
        let (waiter, isAccepted) = state.withLock { state -> (Waiter?, Bool) in
            guard state.end == nil else { return (nil, true) }
            if let waiter = state.waiter.take() { return (waiter, true) }
            guard state.elements.count < limit else { return (nil, false) }
            state.elements.append(element)
            return (nil, true)
        }
        waiter?.continuation.resume(returning: element)
        return isAccepted
    }

    /// Ends the mailbox. The reader still gets the elements that wait. Later calls have no effect.
    func finish(throwing error: (any Error)? = nil) {
        let waiter = state.withLock { state -> Waiter? in
            guard state.end == nil else { return nil }
            state.end = error.map { .failure($0) } ?? .success(())
            return state.waiter.take()
        }
        if let error {
            waiter?.continuation.resume(throwing: error)
        } else {
            waiter?.continuation.resume(returning: nil)
        }
    }

    /// Takes the next element if there is one, without waiting.
    func takeNow() -> Element? {
        state.withLock { $0.elements.popFirst() }
    }

    /// Takes the next element. Only one task may call this at a time.
    /// - Parameters:
    ///   - timeout: The maximum time to wait. Nil for no limit.
    ///   - late: Makes the error to throw after this time.
    /// - Returns: Nil when the mailbox has ended without an error.
    /// - Throws: The error with which the mailbox has ended, the result of `late`, or `CancellationError`.
    func next(
        timeout: Duration? = nil, late: @escaping @Sendable () -> any Error = { CancellationError() }
    ) async throws -> Element? {
        if let element = takeNow() { return element }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let end = timeout.map { ContinuousClock.now + $0 }
        let deadline = timeout.map { timeout in
            deadlines.add(after: timeout) { self.giveUp(number, late()) }
        }
        defer { if let deadline { deadlines.remove(deadline) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Element?, any Error>? = state.withLock { state in
                    if let element = state.elements.popFirst() { return .success(element) }
                    if let end = state.end { return end.map { nil } }
                    precondition(state.waiter == nil, "two tasks read the same mailbox")
                    state.waiter = Waiter(number: number, continuation: continuation)
                    return nil
                }
                if let result { return continuation.resume(with: result) }
                // The cancellation handler or the deadline may have come before the waiter was there.
                if Task.isCancelled {
                    giveUp(number, CancellationError())
                } else if let end, ContinuousClock.now >= end {
                    giveUp(number, late())
                }
            }
        } onCancel: {
            giveUp(number, CancellationError())
        }
    }

    /// Ends one call of ``next(timeout:late:)``, if it still waits.
    private func giveUp(_ number: UInt64, _ error: any Error) {
        let waiter = state.withLock { state -> Waiter? in
            state.waiter?.number == number ? state.waiter.take() : nil
        }
        waiter?.continuation.resume(throwing: error)
    }
}
