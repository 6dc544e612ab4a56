import Synchronization

/// Collects a value for each call of a handler.
final class Calls<Value: Sendable>: Sendable {
    private let recorded = Mutex<[Value]>([])

    var all: [Value] { recorded.withLock(\.self) }

    /// - Returns: the number of values.
    @discardableResult
    func add(_ value: Value) -> Int {
        recorded.withLock { recorded in
            recorded.append(value)
            return recorded.count
        }
    }
}
