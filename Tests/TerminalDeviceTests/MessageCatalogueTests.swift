import Contracts
import EventBus
import Foundation
import Navigation
import Testing
import Vocabulary

@Suite("config/messages.yaml")
struct MessageCatalogueTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

    private func catalogue() throws -> MessageCatalogue {
        let file = Self.root.appending(path: "config/messages.yaml")
        return try MessageCatalogue(yaml: String(contentsOf: file, encoding: .utf8), file: "messages.yaml")
    }

    @Test("lists the commands and events that there are, and no others")
    func types() throws {
        let folders = [("Commands", "command"), ("Events", "event")]
        for (folder, kind) in folders {
            let files = try ["Sources/Contracts", "Sources/FocusPlayer/Vocabulary"].flatMap {
                let folder = Self.root.appending(path: "\($0)/\(folder)")
                return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            }
            let types = files.map { "\(kind).\($0.deletingPathExtension().lastPathComponent)" }
            #expect(try Set(catalogue().fields.keys.filter { $0.hasPrefix("\(kind).") }) == Set(types))
        }
    }

    private static let samples: [any Message] = [
        Command.AlertAnswered(instance: "", button: ""), Command.BackCancelled(instance: ""),
        Command.BackCompleted(instance: ""), Command.BackStarted(instance: ""),
        Command.DataDispatched(name: "", data: [:]), Command.ErrorDismissed(errorID: ""),
        Command.NavigationRequested(action: "pop"), Command.PresentationDismissed(instance: ""),
        Command.ScreenDisplayed(revision: 0), Command.ScreenGone(instance: ""),
        Command.TabSelected(instance: "", tab: ""), DomainEvent.DeepLinkReceived(url: ""),
        DomainEvent.GuardDeadlinePassed(attempt: ""), DomainEvent.LaunchFinished(),
        DomainEvent.MessageDiscarded(messageID: "", reason: ""), DomainEvent.ScreenDismissed(instance: "", screen: ""),
        DomainEvent.URLOpenRequested(url: ""), ApplicationError(code: "", message: ""),
        Command.DeviceSelected(deviceID: ""), Command.DidRequestOpenPlaylistOnSpotify(),
        Command.OpenAnotherAppRequested(url: ""), Command.PlayOnSpotifyRequested(),
        Command.PlaylistSelected(playlistID: ""), Command.SpotifyAuthorizationRequested(),
        Command.SpotifyDeauthorizationRequested(), Command.SpotifyTokenRefreshRequested(generation: 0),
        DomainEvent.PlaybackStarted(), DomainEvent.PlaylistShuffled(playlistID: ""), DomainEvent.PlaylistsLoaded(),
        DomainEvent.SpotifyAuthURLGenerated(url: ""), DomainEvent.SpotifyAuthorizationUpdated(status: .authorized),
        DomainEvent.SpotifyDeviceActivationRequired(), DomainEvent.SpotifyPremiumOnlyActionAttempted(),
        Document.Devices.kitchen, Document.Playlists.two, Document.GeneratedPlaylist.calm,
    ]

    @Test("lists the fields that each message has", arguments: samples)
    func fields(of message: any Message) throws {
        let fields = Mirror(reflecting: message).children.compactMap(\.label)
        #expect(try catalogue().fields["\(type(of: message).type)"] == Set(fields))
    }

    @Test("holds the shipped flows to nothing that they do not keep", arguments: ["ios", "mac"])
    func flows(platform: String) throws {
        let file = Self.root.appending(path: "config/flows/\(platform).yaml")
        let yaml = try String(contentsOf: file, encoding: .utf8)
        #expect(Flow.review(yaml: yaml, file: platform, messages: try catalogue()).findings == [])
    }
}
