import Contracts
import EventBus
import Vocabulary

extension Song {
    static func fixture(_ number: Int) -> Song {
        Song(id: "s\(number)", uri: "spotify:track:s\(number)", title: "Song \(number)", artist: "A", duration: 1000)
    }
}

extension Device {
    static let kitchen = Device(id: "kitchen", name: "Kitchen", type: "Speaker", isActive: false)
}

extension Document.GeneratedPlaylist {
    static let ready = Document.GeneratedPlaylist(
        playlistID: "p", status: .ready, songs: [.fixture(1), .fixture(2)])
}

extension [any Message] {
    /// The names on the wire, in order.
    var types: [String] { map { Swift.type(of: $0).type.description } }

    var errorCodes: [String] { compactMap { ($0 as? ApplicationError)?.code } }

    func first<M: Message>(_ type: M.Type) -> M? {
        lazy.compactMap { $0 as? M }.first
    }
}
