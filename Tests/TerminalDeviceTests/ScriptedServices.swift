import Contracts
import EventBus
import ServiceLifecycle
import Vocabulary

/// Stands in for the services: answers each command of the app as they do on a good day with no active player.
struct ScriptedServices: Service {
    let bus: InMemoryEventBus

    func run() async throws {
        try await bus.withSubscription(to: [.kind(.command)], from: .beginning) { messages in
            for try await message in messages {
                for answer in answers(to: message.type) {
                    try await bus.publish(answer, causedBy: message)
                }
                if message.type == Command.PlaylistSelected.type {
                    let playlistID = try message.decode(Command.PlaylistSelected.self).playlistID
                    try await bus.publish(
                        Document.GeneratedPlaylist(
                            playlistID: playlistID, status: .ready, songs: Document.GeneratedPlaylist.calm.songs),
                        causedBy: message)
                }
            }
        }
    }

    private func answers(to type: MessageType) -> [any Message] {
        switch type {
        case Command.SpotifyAuthorizationRequested.type:
            [
                DomainEvent.SpotifyAuthURLGenerated(url: "https://accounts.example/authorize"),
                DomainEvent.SpotifyAuthorizationUpdated(status: .authorized), Document.Playlists.two,
            ]
        case Command.PlayOnSpotifyRequested.type:
            [Document.Devices.kitchen, DomainEvent.SpotifyDeviceActivationRequired()]
        default: []
        }
    }
}
