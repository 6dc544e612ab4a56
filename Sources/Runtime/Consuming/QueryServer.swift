internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import Support

/// Answers the queries of ``Handlers``.
struct QueryServer: Sendable {
    private let answers: [MessageType: Answer]
    private let bus: EventBus
    private let logger: Logger
    private let clock: ServiceClock

    init(_ answers: [MessageType: Answer], bus: EventBus, logger: Logger, clock: ServiceClock) {
        self.answers = answers
        self.bus = bus
        self.logger = logger
        self.clock = clock
    }

    /// - Parameter whenServing: called when queries can arrive.
    func run(whenServing: @escaping @Sendable () -> Void) async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await BusRetry(holding: .nothing, logger: logger, clock: clock.pauses).run {
                    try await bus.serve(Array(answers.keys), whenServing: whenServing, answer(to:))
                }
            }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // The service was asked to stop: this is the normal end of a server.
        }
    }

    private func answer(to query: Envelope) async throws -> Envelope {
        let context = MessageContext(cause: query, bus: bus, logger: logger, time: clock.now()) {
            try await bus.publish(Batch([$0]))
        }
        do {
            guard let answer = answers[query.type] else { throw BusError(.unserved, "\(query.type) is not served") }
            return Envelope(answering: query, with: try await answer(context), source: bus.source)
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
