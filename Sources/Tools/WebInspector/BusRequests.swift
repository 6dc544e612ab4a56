internal import EventBus
internal import Support
internal import Synchronization
internal import WebPage

/// Operations on the bus for requests of the page: few at the same time, and each for a limited time.
struct BusRequests: Sendable {
    /// The maximum time to wait for the bus.
    private static let timeout: Duration = .seconds(10)

    let hub: Hub
    let clock: any Clock<Duration>
    private let permits = RequestPermits()

    init(hub: Hub, clock: any Clock<Duration>) {
        self.hub = hub
        self.clock = clock
    }

    /// Performs an operation on the bus.
    /// - Throws: ``RequestError``, or another error of `operation` that is not the bus's.
    func perform<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard await hub.isBusConnected else { throw RequestError.busAway }
        try permits.acquire()
        defer { permits.release() }
        do {
            return try await withTimeLimit(Self.timeout, clock: clock, orThrow: RequestError.busAway, operation)
        } catch let error as BusError {
            switch error.code {
            case .refused, .malformed: throw RequestError.malformed(error.message)
            case .epoch: throw RequestError.notFound(error.message)
            default: throw RequestError.busAway
            }
        }
    }
}

/// The requests that use the bus at the same time. Each of them may read a large part of the journal.
final class RequestPermits: Sendable {
    static let limit = 16

    private let acquired = Mutex(0)

    /// - Throws: ``RequestError`` if no permit is free.
    func acquire() throws(RequestError) {
        let isFree = acquired.withLock { acquired in
            guard acquired < Self.limit else { return false }
            acquired += 1
            return true
        }
        guard isFree else { throw .busy("\(Self.limit) requests are under way; try again in a moment") }
    }

    func release() {
        acquired.withLock { $0 -= 1 }
    }
}
