import Contracts
import EventBus
import Vocabulary

extension Stage {
    /// Chooses a playlist, and waits until it is ready.
    func choose(_ playlistID: String) async throws -> Document.GeneratedPlaylist {
        try await generated(by: try await device.tap(Command.PlaylistSelected(playlistID: playlistID)), .ready)
    }

    func generated(
        by cause: Envelope, _ status: Document.GeneratedPlaylist.Status
    ) async throws -> Document.GeneratedPlaylist {
        try await device.outcome(of: cause) { $0.status == status }
    }
}

extension EventBus {
    func status(after cause: Envelope) async throws -> DomainEvent.SpotifyAuthorizationUpdated.Status {
        try await outcome(of: cause, DomainEvent.SpotifyAuthorizationUpdated.self).status
    }

    /// The first message of a type; waits for it.
    func first<M: Message>(_ type: M.Type) async throws -> M {
        try await withSubscription(to: [.type(type)], from: .beginning) { messages in
            for try await message in messages { return try message.decode(M.self) }
            throw CancellationError()
        }
    }
}
