import Foundation
import NIOPosix
import Synchronization

/// The one owner of the state, shared by all requests. Changes happen one after the other.
final class Simulation: Sendable {
    private let state: Mutex<SimulatorState>
    private let now: @Sendable () -> Date
    private let stateFile: String?

    /// - Parameters:
    ///   - state: Where to begin.
    ///   - stateFile: Where to keep what outlives the process; what stands there already takes precedence.
    ///   - now: The clock.
    init(_ state: SimulatorState, stateFile: String?, now: @escaping @Sendable () -> Date) throws {
        var state = state
        if let stateFile, let stored = try StoredState.read(from: stateFile) {
            state.authorization = stored.authorization
            state.player = stored.player
        }
        self.state = Mutex(state)
        self.stateFile = stateFile
        self.now = now
    }

    /// Changes the state, and stores it before anyone hears of the change: a token that a client holds is known again
    /// after a crash.
    func update<Value: Sendable>(
        _ change: @escaping @Sendable (inout SimulatorState, Date) throws -> Value
    ) async throws -> Value {
        guard let stateFile else {
            return try state.withLock { state in try change(&state, now()) }
        }
        // Writing blocks, which the cooperative pool must not.
        return try await NIOThreadPool.singleton.runIfActive { [self] in
            try state.withLock { state in
                let before = StoredState(state)
                // A refusal may have changed the state too: it spends a code.
                let outcome = Result { try change(&state, now()) }
                let after = StoredState(state)
                if after != before { try after.write(to: stateFile) }
                return try outcome.get()
            }
        }
    }
}
