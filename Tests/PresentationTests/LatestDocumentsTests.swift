import Contracts
import EventBus
import Foundation
import Presentation
import Testing
import Vocabulary

@Suite("Latest documents")
struct LatestDocumentsTests {
    @Test("The newest one counts, and a withdrawn one is gone")
    func newest() throws {
        var documents = try LatestDocuments(
            Document.Devices(devices: []), Document.GeneratedPlaylist(playlistID: "p", status: .loading),
            Document.GeneratedPlaylist.ready)
        #expect(documents.generatedPlaylist?.status == .ready)
        #expect(documents.devices?.devices == [])

        #expect(try documents.receive(.tombstone(of: Document.GeneratedPlaylist.type)))
        #expect(documents.generatedPlaylist == nil)
        #expect(documents.devices != nil)
    }

    @Test("Other messages change nothing")
    func others() throws {
        var documents = LatestDocuments()
        #expect(try !documents.receive(Envelope(DomainEvent.PlaylistsLoaded(), source: "test/1")))
    }

    @Test("One that cannot be read is an error, and leaves the one before")
    func malformed() throws {
        var documents = try LatestDocuments(Document.GeneratedPlaylist.ready)
        let odd = Envelope(
            attributes: Attributes(type: Document.GeneratedPlaylist.type, source: "test/1"),
            data: Data(#"{"status": "half"}"#.utf8))
        #expect(throws: BusError.self) { try documents.receive(odd) }
        #expect(documents.generatedPlaylist?.status == .ready)
    }

    @Test("The filters ask for exactly what is taken")
    func filters() throws {
        let filters = LatestDocuments.filters(subject: "anna")
        let samples: [any DocumentMessage] = [
            Document.Playlists(playlists: []), Document.GeneratedPlaylist.ready, Document.Devices(devices: []),
            Document.ErrorBanner(),
        ]
        #expect(filters.count == samples.count)
        for sample in samples {
            let envelope = try Envelope(sample, source: "test/1", subject: "anna")
            #expect(filters.count { $0.matches(envelope) } == 1)
        }
        let other = try Envelope(Document.Devices(devices: []), source: "test/1", subject: "bert")
        #expect(!filters.contains { $0.matches(other) })
    }
}
