import Synchronization

/// A value that one part of a test hands to another.
final class Held<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    var value: Value? {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}
