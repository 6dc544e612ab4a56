internal import Synchronization

/// A value that a service makes when it starts, for example from its settings, and that its handlers use.
///
/// Handlers are made before the settings are read, because the contract of a service follows from them.
public final class Prepared<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    public init() {}

    /// Sets the value. Called before the handlers start.
    public func set(_ value: Value) { self.value.withLock { $0 = value } }

    /// The value.
    /// - Throws: an error if the service has not set the value.
    public func callAsFunction() throws -> Value {
        guard let value = value.withLock(\.self) else { throw Unprepared() }
        return value
    }

    private struct Unprepared: Error, CustomStringConvertible {
        let description = "the service has not prepared a \(Value.self)"
    }
}
