internal import Contracts
public import EventBus
internal import Foundation
public import Logging
internal import ServiceLifecycle
internal import Support

/// Answers queries. Each `on` adds a handler:
///
///     QueryServer(in: process)
///         .on(Query.PlaylistSongs.self) { query, context in try await playlists.songs(for: query) }
///
/// If a handler throws an error while the answer is still wanted, the error is logged, and the answer is an
/// `ApplicationError`:
///
/// - If the error is an `ApplicationError`, it is the answer.
/// - If the data does not match the type of the query, the code is `message.malformed`.
/// - For any other error, the code is `<service>.failed`.
///
/// Queries are not journalled, and a handler that fails is not called again for the same query. If the service is asked
/// to stop, the processes that wait for its answers receive a ``BusError`` with the code `cancelled`.
public struct QueryServer: ReadyService {
    /// Returns the data of the answer.
    private typealias Route = @Sendable (MessageContext) async throws -> Data

    /// Signalled when the server can receive queries.
    public let ready: ReadySignal
    private let bus: EventBus
    private let logger: Logger
    private let clock: any Clock<Duration>
    private var routes: [MessageType: Route] = [:]

    /// - Parameters:
    ///   - ready: signalled when the server can receive queries. A service that contains this server passes its own
    ///     signal.
    ///   - clock: measures the pauses between attempts to reach the bus.
    public init(
        bus: EventBus, logger: Logger, ready: ReadySignal = ReadySignal(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.bus = bus
        self.logger = logger
        self.ready = ready
        self.clock = clock
    }

    /// Adds a handler.
    /// - Precondition: the type has no handler yet.
    public func on<Q: QueryMessage>(
        _ type: Q.Type, answer: @escaping @Sendable (Q, MessageContext) async throws -> Q.Answer
    ) -> QueryServer {
        precondition(routes[Q.type] == nil, "\(Q.type) has two handlers")
        var server = self
        server.routes[Q.type] = { context in
            try JSONEncoder.wire.encode(try await answer(context.cause.decode(Q.self), context))
        }
        return server
    }

    /// The types that have a handler, in alphabetical order.
    public var receives: [MessageType] {
        routes.keys.sorted { $0.description < $1.description }
    }

    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await BusRetry(holding: .nothing, logger: logger, clock: clock).run {
                    try await bus.serve(receives, whenServing: ready.signal, answer(to:))
                }
            }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // The service was asked to stop: this is the normal end of a server.
        }
    }

    private func answer(to query: Envelope) async throws -> Envelope {
        let context = MessageContext(cause: query, bus: bus, logger: logger)
        do {
            guard let route = routes[query.type] else { throw BusError(.unserved, "\(query.type) is not served") }
            return Envelope(answering: query, with: try await route(context), source: bus.source)
        } catch is CancellationError where Task.isCancelled {
            // The asking process no longer waits for the answer, or this process stops.
            throw CancellationError()
        } catch {
            context.logger.log(level: error is ApplicationError ? .info : .error, "the query failed: \(error)")
            return try bus.envelope(applicationError(for: error, query), causedBy: query)
        }
    }

    private func applicationError(for error: any Error, _ query: Envelope) -> ApplicationError {
        switch error {
        case let error as ApplicationError: error
        case let error as BusError where error.code == .malformed:
            ApplicationError(code: "message.malformed", message: error.message)
        default:
            ApplicationError(
                code: "\(service).failed", message: "\(service) could not answer \(query.type)",
                recovery: "see its log for message \(query.id)")
        }
    }

    private var service: Substring { bus.source.cut(at: "/")?.before ?? bus.source[...] }
}

extension Envelope {
    /// The answer to a query: a message of the query's own type with the answer as its data.
    fileprivate init(answering query: Envelope, with data: Data, source: String) {
        self.init(attributes: Attributes(type: query.type, source: source, causedBy: query.attributes), data: data)
    }
}
