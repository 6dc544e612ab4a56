import BusConformance
import CommandLineTestSupport
import Consuming
import EventBus
import Foundation
import Logging
import NATS
import NATSEventBus
import NATSLayout
import NATSTestSupport
import Sodium
import Steward
import Support
import TestSupport
import Testing

private struct PlaylistShuffled: EventMessage {
    var playlistID: String
}

private struct SpotifyAuthorizationUpdated: EventMessage {
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
    private static let users = ["broker", "tools", "music-service"]

    /// The configuration of a server with the users that the command exports from the contract of the focus player.
    private func settings(_ keys: TestKeys) async throws -> String {
        let contract = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../config/contract.json")
            .standardizedFileURL.path
        var permissions = ""
        try await SegueCommandLine.inScratch { segue in
            let nkeys = Self.users.flatMap { ["--nkey", "\($0)=\(keys.key(of: $0))"] }
            let result = try await segue.run(
                ["export", "nats-permissions", contract, "--namespace", namespace] + nkeys)
            try #require(result.status == 0, "\(result.error)")
            permissions = result.output
        }
        // The keys of the users that do not take part are variables.
        let variables = permissions.matches(of: #/nkey: \$(\w+)/#).map { match in
            "\(match.1): \(NKey().publicKey)"
        }
        return ([keys.tls] + variables + [permissions]).joined(separator: "\n")
    }

    private func bus(of user: String, _ keys: TestKeys, _ server: NATSServer) throws -> NATSEventBus {
        try NATSEventBus(
            address: "tls://localhost:\(server.port)/\(namespace)", source: "\(user)/1", logger: .silent,
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

    private func denial(_ body: () async throws -> Void) async -> NATSError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? NATSError)?.code
        }
    }

    @Test(
        "With the exported rights, a service publishes its own messages and runs its own consumer, but no other",
        .timeLimit(.minutes(2)))
    func service() async throws {
        let keys = try await TestKeys(users: Self.users)
        defer { keys.folder.remove() }
        try await NATSServer(settings: settings(keys)).whileRunning { server in
            let steward = Steward(
                keys.options(of: "broker", server), StewardConfiguration(namespace: namespace), logger: .silent)
            let (music, tools) = (
                try bus(of: "music-service", keys, server), try bus(of: "tools", keys, server)
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await steward.run() }
                group.addTask {
                    try await music.whileOpen { try await tools.whileOpen { try await use(music, tools) } }
                    let options = keys.options(of: "music-service", server)
                    try await JetStream.whileConnected(options) { try await attack($0) }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    @Test(
        "A process signs in with the nkey of its key file, with the rights of its role; one without a user does not",
        .timeLimit(.minutes(2)))
    func keyFiles() async throws {
        try await SegueCommandLine.inScratch { segue in
            let contract = Repository.path("config/contract.json")
            let made = try await segue.shell(
                """
                set -e
                segue keys init && segue keys add music-service gone stranger
                segue keys add watcher --role monitor && segue keys add phone --role device --session anna
                cp -a keys old && segue keys revoke gone
                segue export nats-permissions \(contract) --namespace \(namespace) > permissions.conf
                """)
            try #require(made.status == 0, "\(made.error)")
            let permissions = try String(contentsOfFile: "\(segue.directory)/permissions.conf", encoding: .utf8)
            #expect(permissions.matches(of: #/nkey: U[A-Z2-7]{55}\n/#).count == 4 && !permissions.contains("nkey: $"))
            #expect(permissions.contains("# no user: phone is a device;"))
            #expect(permissions.contains("# no user: stranger is not in the contract;"))
            #expect(
                permissions.contains(
                    "# no user: auth-service has no key; if it is a service, make one with 'segue keys add auth-service'"
                ))
            try await NATSServer(settings: permissions).whileRunning { server in
                func bus(_ name: String, in folder: String = "keys") throws -> NATSEventBus {
                    try NATSEventBus(
                        address: "\(server.url)/\(namespace)", source: "\(name)/1", logger: .silent,
                        variables: [KeyFilePlace.variable: "\(segue.directory)/\(folder)/\(name).key"])
                }
                func options(_ name: String) -> NATSOptions {
                    var options = NATSOptions(servers: [server.url], name: name)
                    options.setFiles { $0 == KeyFilePlace.variable ? "\(segue.directory)/keys/\(name).key" : nil }
                    return options
                }
                let steward = Steward(
                    options("broker"), StewardConfiguration(namespace: namespace), logger: .silent)
                let forger = options("watcher")
                let (music, tools, watcher) = (try bus("music-service"), try bus("operator"), try bus("watcher"))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await steward.run() }
                    group.addTask {
                        try await music.whileOpen {
                            try await tools.whileOpen {
                                try await use(music, tools)
                                try await watcher.whileOpen { try await watch(watcher) }
                            }
                        }
                        try await JetStream.whileConnected(forger) { jetStream in
                            #expect(
                                await denial { try await jetStream.publish("_INBOX.other.reply", body: []) } == .denied)
                        }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
                // The last one has no key file.
                for (stranger, code) in [
                    (try bus("gone", in: "old"), BusError.Code.denied), (try bus("stranger"), .denied),
                    (try bus("phone"), .denied), (try bus("gone"), .denied),
                ] {
                    try await stranger.whileOpen {
                        let error = await #expect(throws: BusError.self) {
                            try await stranger.waitUntilConnected(timeout: .seconds(3))
                        }
                        #expect(
                            error?.code == code && error?.message.contains("SU") == false, "\(error as Any)")
                    }
                }
            }
        }
    }

    /// A monitor reads everything, and publishes nothing.
    private func watch(_ watcher: NATSEventBus) async throws {
        let shuffled = try await watcher.withSubscription(to: [.type(PlaylistShuffled.self)], from: .beginning) {
            try await $0.receive(2)
        }
        #expect(shuffled.count == 2)
        let types = try await watcher.newestOfEachType(matching: [.all]).keys
        #expect(Set(types).isSuperset(of: [PlaylistShuffled.type, PlaylistSelected.type]))
        #expect(await refusal { try await watcher.publish(PlaylistShuffled(playlistID: "forged")) } == .forbidden)
        #expect(await refusal { try await watcher.send(PlaylistSelected(playlistID: "forged")) } == .forbidden)
        #expect(await refusal { _ = try await watcher.claim(consumer: "music-service") } == .forbidden)
    }

    private func use(_ music: NATSEventBus, _ tools: NATSEventBus) async throws {
        try await music.publish(PlaylistShuffled(playlistID: "own"))
        try await music.publish(Batch([Envelope(Presence(name: "music"), source: music.source)], isLeased: true))
        let command = try await tools.send(PlaylistSelected(playlistID: "asked"))
        let claim = try await music.claim(consumer: "music-service")
        try await music.withSubscription(to: [.type(PlaylistSelected.self)], under: claim) { messages in
            for try await message in messages {
                let result = try Envelope(
                    PlaylistShuffled(playlistID: "result"), source: music.source, causedBy: message)
                try await music.publish(
                    Batch([result], checkpoint: Checkpoint(claim: claim, handled: Delivery(message))))
                break
            }
        }
        let shuffled = try await tools.withSubscription(to: [.type(PlaylistShuffled.self)], from: .beginning) {
            try await $0.receive(2)
        }
        #expect(shuffled.last?.attributes.causationID == command.id)

        let foreign = SpotifyAuthorizationUpdated(status: "authorized")
        #expect(await refusal { try await music.publish(foreign) } == .forbidden)
        #expect(await refusal { try await music.send(PlaylistSelected(playlistID: "forged")) } == .forbidden)
        #expect(await refusal { _ = try await music.claim(consumer: "auth-service") } == .forbidden)
        var settling = Batch([])
        settling.resolvedDeadLetters = [1]
        #expect(await refusal { try await music.publish(settling) } == .deadLetter)
        let others = try await tools.newestOfEachType(matching: [.all])
        #expect(Set(others.keys) == [PlaylistShuffled.type, PlaylistSelected.type, Presence.type])
    }

    /// Requests without the bus, which checks nothing here: only the server refuses.
    private func attack(_ jetStream: JetStream) async throws {
        let names = StreamNames(namespace)
        let message = try Envelope(PlaylistShuffled(playlistID: "forged"), source: "music-service/1")
        let tokens = MessageTokens(of: [message])
        let foreign = MessageTokens(SpotifyAuthorizationUpdated.type, subject: "default")
        let (own, other) = (
            ConsumerPartition("music-service", Partition(subject: "default")),
            ConsumerPartition("auth-service", Partition(subject: "default"))
        )
        for subject: BusSubject in [
            .results(other, tokens), .results(other, .none), .progress(other), .fence(other), .steward,
            .group(consumer: "auth-service"), .batch(foreign),
        ] {
            let text = subject.text(in: namespace)
            #expect(await denial { try await jetStream.publish(text, body: []) } == .denied, "\(text)")
        }
        for name in names.all {
            #expect(await denial { try await jetStream.purge(name) } == .denied)
            #expect(await denial { try await jetStream.deleteStream(name) } == .denied)
            #expect(await denial { try await jetStream.call("STREAM.MSG.DELETE.\(name)") } == .denied)
        }
        // The same requests are possible where the user has the right.
        let text = BusSubject.progress(own).text(in: namespace)
        #expect(await denial { try await jetStream.publish(text, body: []) } == nil)
    }
}
