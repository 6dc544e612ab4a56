import Foundation

/// The part of the state that outlives the process when a state file is given: what the user has approved and what the
/// player does. A real Spotify doesn't forget its users because a server crashed.
struct StoredState: Codable, Sendable, Equatable {
    var authorization: AuthorizationState
    var player: PlayerState

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
