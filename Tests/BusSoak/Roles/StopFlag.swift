internal import Synchronization
internal import UnixSignals

/// Whether the process has been asked to end (SIGTERM).
final class StopFlag: Sendable {
    private let isSet = Mutex(false)

    var isStopping: Bool { isSet.withLock { $0 } }

    /// Runs `body` while it watches for the signal.
    static func watched(_ body: (StopFlag) async throws -> Void) async throws {
        let flag = StopFlag()
        let signals = await UnixSignalsSequence(trapping: .sigterm)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in signals { flag.isSet.withLock { $0 = true } }
            }
            defer { group.cancelAll() }
            try await body(flag)
        }
    }

    /// Returns when the signal comes.
    static func signal() async {
        for await _ in await UnixSignalsSequence(trapping: .sigterm) { return }
    }
}
