internal import Contracts
public import EventBus
internal import Navigation
internal import Support
internal import Synchronization

/// Lets a view model request that data is shown.
public protocol Dispatching: Sendable {
    /// Requests that data is shown in the way that its type defines. Returns before the data is shown.
    /// - Throws: an error if the request cannot be sent.
    func dispatch<Data: Dispatchable>(_ data: Data) async throws
}

/// Sends data to the coordinator as `command.DataDispatched`.
public struct BusDispatcher: Dispatching {
    private let bus: EventBus
    private let session: String
    private let origin: Origin

    /// - Parameters:
    ///   - session: the session whose app shows the data.
    ///   - origin: the origin of the commands: the view that dispatches. If it names a screen instance that is gone, the
    ///     coordinator discards the command.
    public init(bus: EventBus, session: String = Session.default, origin: Origin) {
        self.bus = bus
        self.session = session
        self.origin = origin
    }

    public func dispatch<Data: Dispatchable>(_ data: Data) async throws {
        let command = Command.DataDispatched(name: Data.dispatchName, data: try JSONValue(encoding: data))
        try await bus.send(command, subject: session, origin: origin)
    }
}

/// Records dispatched data, for tests of view models:
///
///     #expect(dispatcher.dispatched(RouteModel.self) == [RouteModel(fromStationCode: "YRK", toStationCode: "LDS")])
public final class RecordingDispatcher: Dispatching {
    private let recorded = Mutex<[any Dispatchable]>([])

    public init() {}

    /// All data that was dispatched, in order.
    public var dispatched: [any Dispatchable] { recorded.withLock(\.self) }

    /// The dispatched data of one type, in order.
    public func dispatched<Data: Dispatchable>(_ type: Data.Type) -> [Data] {
        dispatched.compactMap { $0 as? Data }
    }

    public func dispatch<Data: Dispatchable>(_ data: Data) async throws {
        recorded.withLock { $0.append(data) }
    }
}
