internal import Contracts
public import EventBus
internal import Navigation
internal import Support
internal import Synchronization

/// What a view model shows data with.
public protocol Dispatching: Sendable {
    /// Asks for this data to be shown, in the way that its type says.
    /// - Throws: what keeps it from being sent. Whether it is shown is seen in the state.
    func dispatch<Data: Dispatchable>(_ data: Data) async throws
}

/// Dispatches data to the coordinator, as `command.DataDispatched`.
public struct BusDispatcher: Dispatching {
    private let bus: any EventBus
    private let session: String
    private let origin: Origin

    /// - Parameters:
    ///   - session: whose app it is.
    ///   - origin: the view that dispatches. With the instance of its screen, it does so too late once that is gone.
    public init(bus: any EventBus, session: String = Session.default, origin: Origin) {
        self.bus = bus
        self.session = session
        self.origin = origin
    }

    public func dispatch<Data: Dispatchable>(_ data: Data) async throws {
        let command = Command.DataDispatched(name: Data.dispatchName, data: try JSONValue(encoding: data))
        try await bus.send(command, subject: session, origin: origin)
    }
}

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
