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

/// The part of the state that outlives the process when a state file is given: what the user has approved and what the
/// player does. A real Spotify doesn't forget its users because a server crashed.
private struct StoredState: Codable, Sendable, Equatable {
    let authorization: AuthorizationState
    let player: PlayerState

    init(_ state: SimulatorState) {
        authorization = state.authorization
        player = state.player
    }

    /// - Returns: `nil` when there is no such file yet.
    /// - Throws: `SpotifySimulatorError` when there is one that cannot be used.
    static func read(from file: String) throws(SpotifySimulatorError) -> StoredState? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        do {
            return try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(filePath: file)))
        } catch {
            throw .unusableStateFile(file)
        }
    }

    /// Replaces the file as a whole. It holds digests, no secrets.
    func write(to file: String) throws(SpotifySimulatorError) {
        do {
            let url = URL(filePath: file)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try JSONEncoder().encode(self).write(to: url, options: .atomic)
        } catch {
            throw .unwritableStateFile(file)
        }
    }
}
