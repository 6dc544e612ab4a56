internal import EventBus
internal import Support
internal import Synchronization

/// A service that can be stopped and started again while other code runs: for cases that restart a bus.
///
///     let broker = RestartableService { ready in try await Broker(configuration).run { ready() } }
///     try await broker.whileRunning {
///         try await conformanceCase.run({ source in try connect(source) }, restart: { _ in try await broker.restart() })
///     }
package final class RestartableService: Sendable {
    /// One run of the service.
    private struct Round: Sendable {
        let isReady = Latch()
        let stop = Latch()
        let hasStopped = Latch()
    }

    private let serve: @Sendable (_ ready: @escaping @Sendable () -> Void) async throws -> Void
    private let rounds: AsyncStream<Round>
    private let next: AsyncStream<Round>.Continuation
    private let current = Mutex<Round?>(nil)

    /// - Parameter serve: Runs the service until the task is cancelled. Calls its argument when the service has
    ///   started.
    package init(_ serve: @escaping @Sendable (_ ready: @escaping @Sendable () -> Void) async throws -> Void) {
        self.serve = serve
        (rounds, next) = AsyncStream.makeStream()
    }

    /// Starts the service, runs `body`, and stops the service.
    /// - Throws: The error of `body` or of the service, whichever comes first.
    package func whileRunning<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                for await round in self.rounds { try await self.run(round) }
                return nil
            }
            group.addTask {
                try await self.restart()
                return try await body()
            }
            while let result = try await group.next() {
                guard let result else { continue }
                group.cancelAll()
                return result
            }
            throw CancellationError()
        }
    }

    /// Stops the service if it runs, starts it, and returns when it has started.
    /// - Parameter body: Called while the service does not run.
    package func restart(whileStopped body: () throws -> Void = {}) async throws {
        let round = Round()
        let last = current.withLock { current in
            defer { current = round }
            return current
        }
        if let last {
            last.stop.open()
            await last.hasStopped.waitUntilOpenOrCancelled()
        }
        try body()
        next.yield(round)
        await round.isReady.waitUntilOpenOrCancelled()
        try Task.checkCancellation()
    }

    private func run(_ round: Round) async throws {
        defer { round.hasStopped.open() }
        try await withThrowingTaskGroup { group in
            group.addTask {
                do { try await self.serve(round.isReady.open) } catch is CancellationError {}
                guard Task.isCancelled else { throw BusError(.closed, "the service ended before the test") }
            }
            group.addTask { await round.stop.waitUntilOpenOrCancelled() }
            try await group.next()
            group.cancelAll()
        }
    }
}
