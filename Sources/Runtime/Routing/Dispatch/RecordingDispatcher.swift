internal import Synchronization

/// Keeps what is dispatched, for tests of view models:
///
///     #expect(dispatcher.dispatched(RouteModel.self) == [RouteModel(fromStationCode: "YRK", toStationCode: "LDS")])
public final class RecordingDispatcher: Dispatching {
    private let recorded = Mutex<[any Dispatchable]>([])

    public init() {}

    /// All that was dispatched, in order.
    public var dispatched: [any Dispatchable] { recorded.withLock(\.self) }

    /// What was dispatched of one type, in order.
    public func dispatched<Data: Dispatchable>(_ type: Data.Type) -> [Data] {
        dispatched.compactMap { $0 as? Data }
    }

    public func dispatch<Data: Dispatchable>(_ data: Data) async throws {
        recorded.withLock { $0.append(data) }
    }
}
