import Contracts
import EventBus
import Foundation
import Navigation
import Presentation
import TerminalDevice
import Vocabulary

extension LatestDocuments {
    /// As if these documents had come from the bus.
    init(_ documents: any DocumentMessage...) throws {
        self.init()
        for document in documents { try receive(Envelope(document, source: "test/1")) }
    }
}

extension NavigationSnapshot {
    /// Screens of the focus player, which may send all that a device can.
    static func sample(
        _ platform: String = "ios", revision: Int = 7, root: String, container: Container? = nil,
        path: [ScreenInstance] = [], presentations: [Presentation] = [], leaving: [ScreenInstance] = []
    ) throws -> NavigationSnapshot {
        let flow = try Flow(ScreenRegistry.flow, version: 1, platform: platform, start: root) { Flow.Screen(root) }
        var snapshot = Machine(flow: flow).snapshot
        snapshot.revision = revision
        snapshot.commands = DeviceSession.sends.types.map(\.description)
        snapshot.state = NavigationState(
            root: RootScreen(.sample(root), container: container), path: path, presentations: presentations,
            leaving: leaving)
        return snapshot
    }
}

extension ScreenInstance {
    static func sample(_ screen: String, _ number: Int = 1, playlist: String? = nil) -> ScreenInstance {
        ScreenInstance(
            screen: screen, id: "\(screen)-\(number)", arguments: playlist.map { ["playlistID": .string($0)] } ?? [:])
    }
}

extension Document.Playlists {
    static let two = Document.Playlists(playlists: [
        Playlist(id: "calm", name: "Calm", owner: "anna", songCount: 12),
        Playlist(id: "rain", name: "Rain", owner: "bert", songCount: 1),
    ])

    static func many(_ count: Int) -> Document.Playlists {
        Document.Playlists(
            playlists: (1...count).map { Playlist(id: "p\($0)", name: "List \($0)", owner: "anna", songCount: 2) })
    }
}

extension Document.GeneratedPlaylist {
    static let calm = Document.GeneratedPlaylist(
        playlistID: "calm", status: .ready,
        songs: [Song(id: "s", uri: "spotify:track:s", title: "Rain", artist: "Cloud", duration: 185_400)])
}

extension Document.Devices {
    static let kitchen = Document.Devices(devices: [
        Device(id: "k", name: "Kitchen", type: "Speaker", isActive: false)
    ])
}

extension Envelope {
    /// What comes from a service, in answer to `cause`.
    static func answer(_ message: some Message, to cause: Envelope? = nil) throws -> Envelope {
        try Envelope(message, source: "test/1", causedBy: cause)
    }
}
