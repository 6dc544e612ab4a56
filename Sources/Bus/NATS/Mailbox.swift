internal import DequeModule
internal import Synchronization
internal import SystemSupport

/// A bounded buffer between a thread that receives and never waits, and one task that reads.
final class Mailbox<Element: Sendable>: Expiring {
    /// Handles an element in place of the reader that waits for it. Returns false if the reader must handle it.
    typealias HandleAtOnce = @Sendable (Element) -> Bool

    private struct Waiter {
        let number: UInt64
        let timeout: Duration?
        /// Nil for no limit.
        var deadline: ContinuousClock.Instant?
        /// Makes the error of a wait until the deadline.
        let late: @Sendable () -> any Error
        let handleAtOnce: HandleAtOnce?
        let continuation: CheckedContinuation<Element?, any Error>

        mutating func extendDeadline() {
            if let timeout { deadline = .now + timeout }
        }
    }

    private struct State {
        var elements: Deque<Element> = []
        var waiter: Waiter?
        var lastNumber: UInt64 = 0
        /// The result with which the mailbox has ended. Nil while it is open.
        var end: Result<Void, any Error>?
    }

    /// The maximum number of elements that wait.
    private let limit: Int
    private let alarm: Alarm
    private let state = Mutex(State())

    /// - Parameter thread: Ends the waits of the reader.
    init(limit: Int, _ thread: ExecutorThread) {
        self.limit = limit
        alarm = Alarm(thread)
    }

    /// Adds an element.
    /// - Returns: False if the buffer is full; then the element is dropped.
    @discardableResult
    func put(_ element: Element) -> Bool {
        let (waiter, isAccepted) = state.withLock { state -> (Waiter?, Bool) in
            guard state.end == nil else { return (nil, true) }
            if state.waiter?.handleAtOnce?(element) == true {
                state.waiter?.extendDeadline()
                return (nil, true)
            }
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

    /// True while the reader waits.
    var hasReader: Bool { state.withLock { $0.waiter != nil } }

    /// Dequeues the next element if there is one, without waiting.
    func dequeueNow() -> Element? {
        state.withLock { $0.elements.popFirst() }
    }

    /// Dequeues the next element. Only one task may call this at a time.
    /// - Parameters:
    ///   - timeout: The maximum time to wait. Nil for no limit.
    ///   - late: Makes the error to throw after this time.
    ///   - handleAtOnce: Is asked first about each element that comes while the call waits. If it handles the element,
    ///     the call continues to wait, and `timeout` starts again. The thread that adds the element calls the closure
    ///     while the mailbox is locked and the reader waits. The closure must not wait.
    /// - Returns: Nil when the mailbox has ended without an error.
    /// - Throws: The error with which the mailbox has ended, the result of `late`, or `CancellationError`.
    func next(
        timeout: Duration? = nil, late: @escaping @Sendable () -> any Error = { CancellationError() },
        handlingAtOnce handleAtOnce: HandleAtOnce? = nil
    ) async throws -> Element? {
        if let element = dequeueNow() { return element }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let deadline = timeout.map { ContinuousClock.now + $0 }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Element?, any Error>? = state.withLock { state in
                    if let element = state.elements.popFirst() { return .success(element) }
                    if let end = state.end { return end.map { nil } }
                    precondition(state.waiter == nil, "two tasks read the same mailbox")
                    state.waiter = Waiter(
                        number: number, timeout: timeout, deadline: deadline, late: late, handleAtOnce: handleAtOnce,
                        continuation: continuation)
                    return nil
                }
                if let result { return continuation.resume(with: result) }
                if let deadline { alarm.set(deadline, for: self) }
                // The cancellation handler may have come before the waiter was there.
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    /// Ends one call of ``next(timeout:late:handlingAtOnce:)`` that was cancelled, if it still waits.
    private func giveUp(_ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            state.waiter?.number == number ? state.waiter.take() : nil
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let (waiter, next) = state.withLock { state -> (Waiter?, ContinuousClock.Instant?) in
            guard let deadline = state.waiter?.deadline else { return (nil, nil) }
            return deadline <= now ? (state.waiter.take(), nil) : (nil, deadline)
        }
        if let waiter { waiter.continuation.resume(throwing: waiter.late()) }
        return next
    }
}
