package import Contracts
package import Device
package import EventBus
internal import Foundation
package import Navigation
internal import Presentation
internal import Support
package import Vocabulary

// Samples of the focus player for tests of devices. The user is anna.

extension LatestDocuments {
    /// The documents as a device has received them from the bus.
    package static func of(_ documents: any DocumentMessage...) throws -> LatestDocuments {
        var latest = LatestDocuments(of: [
            Document.Playlists.self, Document.GeneratedPlaylist.self, Document.NowPlaying.self,
            Document.Devices.self,
        ])
        for document in documents { try latest.receive(.answer(document)) }
        return latest
    }
}

extension Scene {
    /// A scene of the focus player.
    package init(player snapshot: NavigationSnapshot, documents: LatestDocuments = LatestDocuments()) {
        self.init(snapshot, documents: documents, screens: .focusPlayer)
    }
}

extension DeviceIdentity {
    package static let phone = DeviceIdentity(platform: "ios", device: "phone", subject: "anna", source: "device/1")
}

extension NavigationSnapshot {
    /// A state of the focus player in which all commands of a device are allowed.
    package static func sample(
        _ platform: String = "ios", flow name: String = "focus-player", revision: Int = 7, root: String,
        container: Container? = nil, path: [ScreenInstance] = [], presentations: [Presentation] = [],
        leaving: [ScreenInstance] = []
    ) throws -> NavigationSnapshot {
        let flow = try Flow(name, version: 1, platform: platform, start: root) { Flow.Screen(root) }
        var snapshot = Machine(flow: flow).snapshot
        snapshot.revision = revision
        snapshot.commands = DeviceSession.sends(flow: nil, screens: .focusPlayer).map(\.type.description)
        snapshot.state = NavigationState(
            root: RootScreen(.sample(root), container: container), path: path, presentations: presentations,
            leaving: leaving)
        return snapshot
    }
}

extension ScreenInstance {
    package static func sample(_ screen: String, _ number: Int = 1, playlist: String? = nil) -> ScreenInstance {
        ScreenInstance(
            screen: screen, id: "\(screen)-\(number)", arguments: playlist.map { ["playlistID": .string($0)] } ?? [:])
    }
}

extension Document.Playlists {
    package static let two = Document.Playlists(playlists: [
        Playlist(id: "calm", name: "Calm", owner: "anna", songCount: 12),
        Playlist(id: "rain", name: "Rain", owner: "bert", songCount: 1),
    ])

    package static func many(_ count: Int) -> Document.Playlists {
        Document.Playlists(
            playlists: (1...count).map { Playlist(id: "p\($0)", name: "List \($0)", owner: "anna", songCount: 2) })
    }
}

extension Document.GeneratedPlaylist {
    package static let calm = Document.GeneratedPlaylist(
        playlistID: "calm", status: .ready,
        songs: [Song(id: "s", uri: "spotify:track:s", title: "Rain", artist: "Cloud", duration: 185_400)])
}

extension Document.Devices {
    package static let kitchen = Document.Devices(devices: [
        Speaker(id: "k", name: "Kitchen", type: "Speaker", isActive: false)
    ])
}

extension Playback {
    /// A song that plays, one minute and five seconds after its beginning at the time 0.
    package static let rain = Playback(
        track: Track(title: "Rain", artist: "Cloud", album: "Weather", duration: 240_000), isPlaying: true,
        position: 65_000, measuredAt: 0, device: Speaker(name: "Kitchen", type: "Speaker", volume: 40))
}

extension Envelope {
    /// A message of a service, in answer to `cause`.
    package static func answer(_ message: some Message, to cause: Envelope? = nil) throws -> Envelope {
        try Envelope(message, source: "test/1", causedBy: cause)
    }

    /// A page of songs, as the answer to a query.
    package static func page(_ songs: [Song], total: Int) throws -> Envelope {
        let data = try JSONEncoder().encode(Query.PlaylistSongs.Answer(total: total, songs: songs))
        return Envelope(attributes: Attributes(type: Query.PlaylistSongs.type, source: "test/1"), data: data)
    }

    /// Withdraws a document.
    package static func tombstone(of type: MessageType) -> Envelope {
        Envelope(attributes: Attributes(type: type, source: "test/1"), data: Data())
    }
}

extension [DeviceSession.Output] {
    package var published: [Envelope] {
        compactMap { if case .publish(let message) = $0 { message } else { nil } }
    }

    package var said: [String] {
        compactMap { if case .say(let text) = $0 { text } else { nil } }
    }

    package var opened: [String] {
        compactMap { if case .openURL(let url) = $0 { url } else { nil } }
    }
}

extension DeviceSession.Output {
    package var isDrawing: Bool { if case .draw = self { true } else { false } }

    package var isComplaint: Bool { if case .unreadable = self { true } else { false } }
}
