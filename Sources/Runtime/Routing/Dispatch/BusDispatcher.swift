internal import Contracts
public import EventBus
internal import Navigation

/// Dispatches data to the coordinator, as `command.DataDispatched`.
public struct BusDispatcher: Dispatching {
    let bus: any EventBus
    let session: String
    let origin: Origin

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
