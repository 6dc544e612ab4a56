import EventBus
import NATSLayout
import Testing

@Suite("Rights of a service")
struct ServiceRightsTests {
    private static let presence = MessageType(kind: .document, name: "Presence")
    private static let reported = MessageType(kind: .event, name: "MetricsReported")
    private static let shuffled = MessageType(kind: .event, name: "PlaylistShuffled")
    private static let loaded = MessageType(kind: .event, name: "PlaylistsLoaded")
    private static let refresh = MessageType(kind: .command, name: "TokenRefreshRequested")
    private static let songs = MessageType(kind: .query, name: "PlaylistSongs")
    private static let foreign = MessageType(kind: .event, name: "SpotifyAuthorizationUpdated")

    private let music = ServiceRights(
        sends: [shuffled, loaded, refresh], serves: [songs], consumers: ["music-service", "music.account"],
        announcements: [presence], reports: [reported], namespace: "APP")

    private static func text(_ subject: BusSubject) -> String { subject.text(in: "APP") }

    private func mayPublish(_ subject: BusSubject) -> Bool {
        music.publish.contains { NATSRules.matches(Self.text(subject), $0) }
    }

    private func maySubscribe(_ subject: BusSubject) -> Bool {
        music.subscribe.contains { NATSRules.matches(Self.text(subject), $0) }
    }

    private func tokens(_ types: MessageType..., subjects: [String] = ["default", "other"]) -> MessageTokens {
        MessageTokens(
            of: types.enumerated().map { Samples.message($0.element, subject: subjects[$0.offset % subjects.count]) })
    }

    @Test("The rights include batches of the types that a service sends, in any partition, and its announcements")
    func own() {
        for batch in [
            tokens(Self.shuffled), tokens(Self.refresh), tokens(Self.presence), tokens(Self.shuffled, Self.shuffled),
            tokens(Self.shuffled, Self.loaded), tokens(Self.shuffled, Self.refresh),
        ] {
            #expect(mayPublish(.batch(batch)) && mayPublish(.transient(batch)), "\(batch)")
            for consumer in ["music-service", "music.account"] {
                let owner = ConsumerPartition(consumer, Partition(subject: "default"))
                #expect(mayPublish(.results(owner, batch)), "\(batch)")
                #expect(mayPublish(.results(owner, .none)) && mayPublish(.fence(owner)) && mayPublish(.progress(owner)))
                #expect(mayPublish(.group(consumer: consumer)))
            }
        }
        #expect(mayPublish(.heartbeat))
        #expect(maySubscribe(.queryServers(Self.songs)) && maySubscribe(.queries(to: "me")))
    }

    @Test("The rights include the reports of a process as transient messages of one type only")
    func reports() {
        #expect(mayPublish(.transient(tokens(Self.reported))))
        #expect(!mayPublish(.batch(tokens(Self.reported))))
        let quiet = ServiceRights(
            sends: [], serves: [], consumers: [], announcements: [Self.presence], reports: [Self.reported],
            namespace: "APP")
        let mixed = Self.text(.transient(tokens(Self.presence, Self.reported)))
        #expect(!quiet.publish.contains { NATSRules.matches(mixed, $0) })
    }

    @Test("The rights do not include other services, settling of dead letters, or streams")
    func others() {
        let owner = ConsumerPartition("auth-service", Partition(subject: "default"))
        for subject: BusSubject in [
            .batch(tokens(Self.foreign)), .transient(tokens(Self.foreign)), .results(owner, tokens(Self.shuffled)),
            .results(owner, .none), .fence(owner), .progress(owner), .group(consumer: "auth-service"),
            .group(consumer: "music"), .cutOffs(consumer: "music-service"), .steward, .settlement, .documentWatermark,
            .document(DocumentName(Self.presence, subject: "default", key: "x")), .queryServers(Self.songs),
            .deadLetter(consumer: "music-service", sequence: 1), .alive,
        ] {
            #expect(!mayPublish(subject), "\(Self.text(subject))")
        }
        for request in ["STREAM.CREATE.APP", "STREAM.DELETE.APP", "STREAM.PURGE.APP_DOC", "STREAM.INFO.OTHER"] {
            #expect(!music.publish.contains { NATSRules.matches("$JS.API.\(request)", $0) }, "\(request)")
        }
        let other = MessageType(kind: .query, name: "Other")
        #expect(!maySubscribe(.queryServers(other)) && !maySubscribe(.heartbeat))
    }

    @Test("The rights of a service that asks queries do not include other types")
    func queries() {
        let rights = ServiceRights(
            sends: [Self.songs], serves: [], consumers: [], announcements: [], reports: [], namespace: "APP")
        #expect(rights.publish.contains("APP.q.who.PlaylistSongs") && rights.publish.contains("APP.q.to.*"))
        #expect(!rights.subscribe.contains { NATSRules.matches("APP.q.who.PlaylistSongs", $0) })
        #expect(!rights.publish.contains { $0.hasPrefix("APP.m.") || $0.hasPrefix("APP.t.") })
    }

    @Test("The rights of a monitor include the request for metrics, but no other messages and no replies to others")
    func monitor() {
        let requested = MessageType(kind: .event, name: "MetricsRequested")
        let monitor = ServiceRights.monitor(asks: requested, namespace: "APP")
        func allows(_ subject: String) -> Bool { monitor.publish.contains { NATSRules.matches(subject, $0) } }
        #expect(allows(Self.text(.transient(tokens(requested)))) && allows("_INBOX.client.a.1"))
        let others: [BusSubject] = [
            .batch(tokens(requested)), .batch(tokens(Self.presence)), .transient(tokens(Self.reported)), .heartbeat,
            .queries(to: "x"),
        ]
        for subject in others.map(Self.text) + ["_INBOX.client.1", "_INBOX.client.d.1"] {
            #expect(!allows(subject), "\(subject)")
        }
        #expect(monitor.subscribe == ["APP.>", "_INBOX.>"])
    }

    @Test("The rights of tools include each subject of the bus, and those of the steward also its streams")
    func steward() {
        let tools = ServiceRights.tools(namespace: "APP")
        let steward = ServiceRights.steward(namespace: "APP")
        #expect(tools.publish.contains("APP.>") && tools.subscribe.contains("APP.>"))
        #expect(!tools.publish.contains("$JS.API.STREAM.CREATE.APP"))
        #expect(steward.publish.contains("$JS.API.STREAM.CREATE.APP_DOC"))
        #expect(Set(tools.publish).isSubset(of: steward.publish))
    }
}
