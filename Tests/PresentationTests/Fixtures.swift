import Contracts
import EventBus
import Foundation
import Presentation
import Vocabulary

extension LatestDocuments {
    /// As if these documents had come from the bus.
    init(_ documents: any DocumentMessage...) throws {
        self.init()
        for document in documents {
            try receive(Envelope(document, source: "test/1"))
        }
    }
}

extension Envelope {
    /// Withdraws a document.
    static func tombstone(of type: MessageType) -> Envelope {
        Envelope(attributes: Attributes(type: type, source: "test/1"), data: Data())
    }
}

extension Document.GeneratedPlaylist {
    static let ready = Document.GeneratedPlaylist(
        playlistID: "p", status: .ready,
        songs: [Song(id: "s", uri: "spotify:track:s", title: "Rain", artist: "Cloud", duration: 185_400)])
}

extension ScreenContent {
    var commandTypes: [String] { actions.map(\.type.description) }
}
