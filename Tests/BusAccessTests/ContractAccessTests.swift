import AppContract
import BusAccess
import BusKeys
import Contracts
import EventBus
import Foundation
import Support
import TestSupport
import Testing

@Suite("The rights that follow from the contract of the focus player")
struct ContractAccessTests {
    private func access() throws -> Access {
        let json = try Data(contentsOf: URL(fileURLWithPath: Repository.path("config/contract.json")))
        let contract = try AppContract(parsing: json)
        return Access(
            of: contract.parties.map {
                DeclaredProgram(
                    name: $0.key, receives: $0.value.receives, sends: $0.value.sends, consumers: $0.value.consumers)
            })
    }

    private func rights(_ name: String, _ role: String? = nil, session: String? = nil) throws -> Rights {
        Rights(of: try .sample(name, role, session: session), in: try access())
    }

    @Test("A service publishes its own messages, and not those of others")
    func publishing() throws {
        let music = try rights("music-service")
        let playlists = try #require(MessageType("document.Playlists"))
        let updated = try #require(MessageType("event.SpotifyAuthorizationUpdated"))
        #expect(music.refusalToPublish(playlists, subject: "amelie") == nil)
        #expect(music.refusalToPublish(Document.NavigationState.type, subject: "amelie", key: "ios") != nil)
        #expect(
            music.refusalToPublish(updated, subject: "amelie")
                == "'music-service' may not publish event.SpotifyAuthorizationUpdated; if it should, declare it in the "
                + "contract, then run 'segue access --write'")
        #expect(try rights("auth-service").refusalToPublish(updated, subject: "amelie") == nil)
    }

    @Test("Only the coordinator of iOS claims its consumer and publishes its documents")
    func coordinator() throws {
        for name in try access().services.keys {
            let rights = try rights(name)
            let isCoordinator = name == "ios-coordinator"
            #expect((rights.refusalToClaim("navigation-coordinator.ios") == nil) == isCoordinator, "\(name)")
            for (type, key) in [
                (Document.NavigationState.type, "ios"), (Document.Flow.type, "ios"),
                (Document.Deadline.type, "ios.screen.1"),
            ] {
                let refusal = rights.refusalToPublish(type, subject: Session.default, key: key)
                #expect((refusal == nil) == isCoordinator, "\(name) \(type)")
            }
        }
        #expect(try rights("operator").refusalToClaim("navigation-coordinator.ios") == nil)
    }

    @Test("A timer belongs to the consumer that its key names")
    func timers() throws {
        let music = try rights("music-service")
        let timer = Document.ScheduledCommand.type
        #expect(music.refusalToPublish(timer, subject: "a", key: "music-service-playback.poll") == nil)
        #expect(music.refusalToPublish(timer, subject: "a", key: "auth-service.poll") != nil)
        #expect(music.refusalToPublish(timer, subject: "a", key: "music-servic") != nil)
    }

    @Test("A service reads what it receives, and its own documents")
    func reading() throws {
        let notifier = try rights("error-notifier")
        for topics in ["error.ApplicationError.", "error.ApplicationError.3e", "document.ErrorQueue."] {
            #expect(notifier.refusalToRead(topics: topics) == nil)
        }
        for topics in ["document.Playlists.", "document.Playlists.3e", "document.", "error.", "", "x.y.", "a.b.c.d"] {
            #expect(notifier.refusalToRead(topics: topics) != nil, "\(topics)")
        }
        #expect(notifier.refusalToRead(Document.NavigationState.type, subject: "a") != nil)
    }

    @Test("Queries are served and asked by the programs that declare it")
    func queries() throws {
        let songs = try #require(MessageType("query.PlaylistSongs"))
        #expect(try rights("music-service").refusalToServe(songs) == nil)
        #expect(try rights("music-service").refusalToAsk(songs, subject: "a") != nil)
        #expect(try rights("auth-service").refusalToServe(songs) != nil)
        let phone = try rights("phone", "device", session: "amelie")
        #expect(phone.refusalToAsk(songs, subject: "amelie") == nil)
        #expect(phone.refusalToAsk(songs, subject: "bert") != nil)
        #expect(phone.refusalToServe(songs) != nil)
    }

    @Test("A device publishes and reads in its session only, and announces itself in the default one")
    func device() throws {
        let phone = try rights("phone", "device", session: "amelie")
        #expect(phone.areOfOneSession)
        #expect(phone.refusalToPublish(Command.TabSelected.type, subject: "amelie") == nil)
        #expect(phone.refusalToPublish(Command.TabSelected.type, subject: "bert") != nil)
        #expect(phone.refusalToPublish(Command.TabSelected.type, subject: Session.default) != nil)
        #expect(phone.refusalToPublish(Document.Presence.type, subject: Session.default, key: "1a2b") == nil)
        #expect(phone.refusalToPublish(Document.Presence.type, subject: "amelie", key: "1a2b") != nil)
        #expect(phone.refusalToPublish(Document.ServiceContract.type, subject: Session.default) != nil)
        #expect(phone.refusalToPublish(Document.NavigationState.type, subject: "amelie", key: "ios") != nil)

        let playlists = try #require(MessageType("document.Playlists"))
        for type in [playlists, Document.NavigationState.type, ApplicationError.type] {
            #expect(phone.mayReceive(type, subject: "amelie") == .everything)
            #expect(phone.mayReceive(type, subject: "bert") == .nothing)
        }
        #expect(phone.mayReceive(Document.ScheduledCommand.type, subject: "amelie") == .nothing)
        #expect(phone.mayReceive(Document.Flow.type, subject: Session.default) == .everything)
        #expect(phone.mayReceive(Document.ServiceContract.type, subject: Session.default) == .everything)
        #expect(phone.mayReceive(Document.Presence.type, subject: Session.default) == .nothing)
        #expect(phone.mayReceive(Document.NavigationState.type, subject: Session.default) == .nothing)
        #expect(phone.mayReceive(ApplicationError.type, subject: Session.default) == .messagesOfBroker)
        #expect(phone.refusalToClaim("phone") != nil)
    }

    @Test("A device may read the topics of its session's partition")
    func deviceTopics() throws {
        // The sessions 'amelie' and 'bert' have different partitions.
        func digits(_ session: String) -> String {
            let text = String(Partition(subject: session).number, radix: 16)
            return text.count < 2 ? "0\(text)" : text
        }
        let phone = try rights("phone", "device", session: "amelie")
        try #require(Partition(subject: "amelie") != Partition(subject: "bert"))
        #expect(phone.refusalToRead(topics: "document.NavigationState.\(digits("amelie"))") == nil)
        #expect(phone.refusalToRead(topics: "document.NavigationState.\(digits("bert"))") != nil)
        #expect(phone.refusalToRead(topics: "document.Flow.3e") == nil)
        #expect(phone.refusalToRead(topics: "document.") == nil)
        #expect(phone.refusalToRead(topics: "command.") != nil)
        #expect(phone.refusalToRead(topics: "document.ScheduledCommand.") != nil)
    }

    @Test("Without an entry, a service may do nothing, and the reason names the remedy")
    func unknown() throws {
        let stranger = try rights("stranger")
        for refusal in [
            stranger.refusalToPublish(Document.Presence.type, subject: Session.default),
            stranger.refusalToRead(topics: "document.Flow."), stranger.refusalToClaim("stranger"),
            stranger.refusalToReadDeadLetters(of: "stranger"), stranger.refusalToListConsumers(),
            stranger.refusalToForget("stranger"),
        ] {
            #expect(refusal?.contains("run 'segue access --write'") == true)
        }
    }

    @Test("Every service announces itself, reports its metrics, and publishes its failures")
    func platform() throws {
        for name in try access().services.keys {
            let rights = try rights(name)
            for type in [
                Document.Presence.type, Document.ServiceContract.type, DomainEvent.MetricsReported.type,
                ApplicationError.type, DomainEvent.MessageDiscarded.type,
            ] {
                #expect(rights.refusalToPublish(type, subject: Session.default, key: "1a2b") == nil, "\(name) \(type)")
            }
            #expect(rights.refusalToRead(topics: "event.MetricsRequested.") == nil)
            #expect(rights.refusalToPublish(DomainEvent.MetricsRequested.type, subject: Session.default) != nil)
        }
    }

    @Test("The names of the platform's messages are those of the contracts")
    func names() {
        #expect(PlatformAccess.announcements == [Document.Presence.type, Document.ServiceContract.type])
        #expect(PlatformAccess.reports == [DomainEvent.MetricsRequested.type, DomainEvent.MetricsReported.type])
        let known = Set(PlatformMessages.all.types + [PlatformMessages.errorQueue])
        #expect(known.isSuperset(of: PlatformAccess.all))
    }
}

extension KnownKey {
    /// An entry of a new list with this key.
    static func sample(_ name: String, _ role: String? = nil, session: String? = nil) throws -> KnownKey {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = try KeyFolder.create("\(scratch.path)/keys")
        _ = try folder.add(name, role: role, session: session)
        return try #require(folder.known()[name])
    }
}
