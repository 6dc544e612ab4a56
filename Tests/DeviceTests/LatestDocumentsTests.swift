import Contracts
import Device
import DeviceTestSupport
import EventBus
import Foundation
import Testing
import Vocabulary

@Suite("Latest documents")
struct LatestDocumentsTests {
    @Test("The newest document counts, and a withdrawn one is gone")
    func newest() throws {
        var documents = try LatestDocuments.of(
            Document.Devices(devices: []), Document.GeneratedPlaylist(playlistID: "p", status: .loading),
            Document.GeneratedPlaylist.calm)
        #expect(documents[Document.GeneratedPlaylist.self]?.status == .ready)
        #expect(documents[Document.Devices.self]?.devices == [])

        #expect(try documents.receive(.tombstone(of: Document.GeneratedPlaylist.type)))
        #expect(documents[Document.GeneratedPlaylist.self] == nil)
        #expect(documents[Document.Devices.self] != nil)
    }

    @Test("Other messages change nothing")
    func others() throws {
        var documents = LatestDocuments()
        #expect(try !documents.receive(.answer(DomainEvent.PlaylistsLoaded())))
    }

    @Test("A document that cannot be read is an error, and the former one stays")
    func malformed() throws {
        var documents = try LatestDocuments.of(Document.GeneratedPlaylist.calm)
        let odd = Envelope(
            attributes: Attributes(type: Document.GeneratedPlaylist.type, source: "test/1"),
            data: Data(#"{"status": "half"}"#.utf8))
        #expect(throws: BusError.self) { try documents.receive(odd) }
        #expect(documents[Document.GeneratedPlaylist.self]?.status == .ready)
    }

    @Test("The filters request exactly the documents that are needed")
    func filters() throws {
        let filters = DeviceSession(.phone, commandLifetime: .seconds(60)).filters
        let samples: [any DocumentMessage] = [
            Document.Playlists(playlists: []), Document.GeneratedPlaylist.calm, Document.Devices(devices: []),
            Document.ErrorBanner(),
        ]
        for sample in samples {
            let envelope = try Envelope(sample, source: "test/1", subject: "anna")
            #expect(filters.count { $0.matches(envelope) } == 1)
        }
        let other = try Envelope(Document.Devices(devices: []), source: "test/1", subject: "bert")
        #expect(!filters.contains { $0.matches(other) })
        let command = try Envelope(Command.PlaylistSelected(playlistID: "p"), source: "test/1", subject: "anna")
        #expect(!filters.contains { $0.matches(command) })
    }
}
