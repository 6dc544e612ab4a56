import Consuming
import EventBus
import Logging
import NATS
import NATSEventBus
import NATSLayout
import NATSTestSupport
import Steward
import TestSupport
import Testing

private struct PlaylistShuffled: EventMessage {
    var playlistID: String
}

private struct AuthorizationUpdated: EventMessage {
    var status: String
}

private struct PlaylistSelected: CommandMessage {
    var playlistID: String
}

private struct Presence: DocumentMessage {
    var name: String
}

@Suite("A bus on NATS with TLS and a user for each service")
struct UserRightsTests {
    private let namespace = "RIGHTS"

    private func settings(_ keys: TestKeys) -> String {
        let rights = [
            "steward": ServiceRights.steward(namespace: namespace), "view": .tools(namespace: namespace),
            "music-service": ServiceRights(
                sends: [PlaylistShuffled.type], serves: [], consumers: ["music-service"],
                announcements: [Presence.type], namespace: namespace),
        ]
        let users = rights.map { name, rights in
            "{ nkey: \(keys.key(of: name)), permissions: { publish: \(rights.publish), subscribe: \(rights.subscribe) } }"
        }
        return "\(keys.tls)\nauthorization { users: [ \(users.joined(separator: ", ")) ] }"
    }

    private func bus(of user: String, _ keys: TestKeys, _ server: NATSServer) throws -> NATSEventBus {
        try NATSEventBus(
            address: "tls://localhost:\(server.port)/\(namespace)", source: "\(user)/1", logger: .quiet,
            variables: [
                "SEGUE_BUS_NKEY": keys.seedFile(of: user), "SEGUE_BUS_CA": keys.authorityFile,
                "SEGUE_BUS_CERT": keys.certificateFile, "SEGUE_BUS_KEY": keys.keyFile,
            ])
    }

    private func refusal(_ body: () async throws -> Void) async -> BusError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? BusError)?.code
        }
    }

    @Test("a service publishes its own messages, runs its own consumer, and nothing else", .timeLimit(.minutes(2)))
    func service() async throws {
        let keys = try await TestKeys(users: ["steward", "view", "music-service"])
        defer { keys.folder.remove() }
        try await NATSServer(settings: settings(keys)).whileRunning { server in
            let steward = Steward(
                keys.options(of: "steward", server), StewardConfiguration(namespace: namespace), logger: .quiet)
            let (music, view) = (
                try bus(of: "music-service", keys, server), try bus(of: "view", keys, server)
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await steward.run() }
                group.addTask {
                    try await music.whileOpen { try await view.whileOpen { try await use(music, view) } }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func use(_ music: NATSEventBus, _ view: NATSEventBus) async throws {
        try await music.publish(PlaylistShuffled(playlistID: "own"))
        try await music.publish(Batch([Envelope(Presence(name: "music"), source: music.source)], isLeased: true))
        let command = try await view.send(PlaylistSelected(playlistID: "asked"))
        let claim = try await music.claim(consumer: "music-service")
        try await music.withSubscription(to: [.type(PlaylistSelected.self)], under: claim) { messages in
            for try await message in messages {
                let result = try Envelope(
                    PlaylistShuffled(playlistID: "result"), source: music.source, causedBy: message)
                try await music.publish(Batch([result], checkpoint: Checkpoint(claim: claim, handled: message)))
                break
            }
        }
        let shuffled = try await view.withSubscription(to: [.type(PlaylistShuffled.self)], from: .beginning) {
            try await $0.take(2)
        }
        #expect(shuffled.last?.attributes.causationID == command.id)

        #expect(await refusal { try await music.publish(AuthorizationUpdated(status: "authorized")) } == .refused)
        #expect(await refusal { try await music.send(PlaylistSelected(playlistID: "forged")) } == .refused)
        #expect(await refusal { _ = try await music.claim(consumer: "auth-service") } == .refused)
        var settling = Batch([])
        settling.settledLetters = [1]
        #expect(await refusal { try await music.publish(settling) } == .letter)
        let others = try await view.newestOfEachType(matching: [.all])
        #expect(Set(others.keys) == [PlaylistShuffled.type, PlaylistSelected.type, Presence.type])
    }
}
