import Synchronization

/// What a handler was called with, or when.
final class Calls<Value: Sendable>: Sendable {
    private let recorded = Mutex<[Value]>([])

    var all: [Value] { recorded.withLock(\.self) }

    /// - Returns: how many there are now.
    @discardableResult
    func add(_ value: Value) -> Int {
        recorded.withLock { recorded in
            recorded.append(value)
            return recorded.count
        }
    }
}
