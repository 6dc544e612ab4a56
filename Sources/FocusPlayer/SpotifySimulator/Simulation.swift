import Foundation
import NIOPosix
import Synchronization
import SystemSupport

/// The owner of the simulator's state. All requests share the state, and change it one at a time.
final class Simulation: Sendable {
    private let state: Mutex<SimulatorState>
    private let now: @Sendable () -> Date
    private let stateFile: String?

    /// - Parameters:
    ///   - state: The initial state.
    ///   - stateFile: The file with the part of the state that survives a restart. If the file exists, its content
    ///     replaces this part of `state`. `nil` if nothing is to be stored.
    ///   - now: Returns the current time.
    init(_ state: SimulatorState, stateFile: String?, now: @escaping @Sendable () -> Date) throws {
        var state = state
        if let stateFile, let stored = try StoredState.read(from: stateFile) {
            stored.restore(&state)
        }
        self.state = Mutex(state)
        self.stateFile = stateFile
        self.now = now
    }

    /// Changes the state. If there is a state file, returns only after the change is stored.
    func update<Value: Sendable>(
        _ change: @escaping @Sendable (inout SimulatorState, Date) throws -> Value
    ) async throws -> Value {
        guard let stateFile else {
            return try state.withLock { state in try change(&state, now()) }
        }
        // The thread pool writes the file, because writing would block a thread of the cooperative pool.
        return try await NIOThreadPool.singleton.runIfActive { [self] in
            try state.withLock { state in
                let before = StoredState(state)
                // A refused request may have changed the state, too: for example it uses up a code.
                let outcome = Result { try change(&state, now()) }
                let after = StoredState(state)
                if after != before { try after.write(to: stateFile) }
                return try outcome.get()
            }
        }
    }
}

/// The part of the state that is stored in the state file: the users' approvals with their tokens, and the players.
private struct StoredState: Codable, Sendable, Equatable {
    let authorization: AuthorizationState
    /// The players by user id. Nil in a file of an earlier version.
    let players: [String: PlayerState]?
    /// The player of the only account, in a file of an earlier version.
    let player: PlayerState?

    init(_ state: SimulatorState) {
        authorization = state.authorization
        players = Dictionary(
            state.accounts.map { ($0.catalogue.user.id, $0.player) }, uniquingKeysWith: { first, _ in first })
        player = nil
    }

    func restore(_ state: inout SimulatorState) {
        state.authorization = authorization
        if let player { state.accounts[0].player = player }
        for index in state.accounts.indices {
            if let player = players?[state.accounts[index].catalogue.user.id] { state.accounts[index].player = player }
        }
    }

    /// - Returns: `nil` if the file does not exist yet.
    /// - Throws: `SpotifySimulatorError` if the file cannot be read or is not a valid state.
    static func read(from file: String) throws(SpotifySimulatorError) -> StoredState? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        do {
            let state = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(filePath: file)))
            guard state.authorization.isValid else { throw SpotifySimulatorError.unusableStateFile(file) }
            return state
        } catch {
            throw .unusableStateFile(file)
        }
    }

    /// Replaces the file. The file contains digests and no secrets.
    func write(to file: String) throws(SpotifySimulatorError) {
        do {
            let url = URL(filePath: file)
            // check-lines: the folder may exist, and others may read it; the file has no secrets.
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try AtomicFile(file).replace(with: try JSONEncoder().encode(self), isDurable: false)
        } catch {
            throw .unwritableStateFile(file)
        }
    }
}
