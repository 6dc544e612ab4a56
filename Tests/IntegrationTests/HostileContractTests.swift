import BusProtocol
import BusStranger
import Contracts
import EventBus
import Foundation
import HostileValues
import SegueTestSupport
import Support
import Testing
import Vocabulary

/// Sends messages of every type on the bus, made from the contracts that the services publish. So a new message is
/// covered as soon as a service declares it.
@Suite("Messages of every contract with hostile values")
struct HostileContractTests {
    /// - Parameter key: The key of a document. Nil for other messages.
    private static func message(
        _ type: MessageType, _ data: String, session: String, key: String? = nil, number: Int
    ) -> PublishedMessage {
        let header = JSONValue.object(members: [
            ("id", .string("hostile-\(number)")), ("source", "stranger/1"), ("specversion", "1.0"),
            ("type", .string("\(type)")), ("subject", .string(session)), ("platform", "ios"),
            ("key", key.map { .string($0) }),
        ])
        return PublishedMessage(
            topic: Topic(type, subject: session).name, subject: session, key: key ?? "",
            header: Array(header.description.utf8)[...], data: Array(data.utf8)[...])
    }

    /// Documents that all sessions share. They are published in the session `default`, with other keys.
    private static let shared: Set<MessageType> = [
        Document.Presence.type, Document.ServiceContract.type, Document.Flow.type,
    ]

    @Test("end no process, now or after a restart, and every service answers", .timeLimit(.minutes(10)))
    func sweep() async throws {
        try await Story.tell { story in
            try await story.launch()
            try await story.logIn()
            try await story.select("EndlessFocus")
            let instances = try await instances(story)
            let messages = try await hostileMessages(story)
            try await send(messages, to: story)
            try await isAnswering(story, "first")
            #expect(try await self.instances(story) == instances, "\(story.stack.logs)")
            for service in [
                "ios-coordinator", "mac-coordinator", "auth-service", "music-service", "error-notifier", "web",
            ] {
                try await story.processes.killAndRestart(service)
            }
            let restarted = try await self.instances(story)
            try await isAnswering(story, "second")
            // The killed processes may have been withdrawn meanwhile.
            #expect(try await self.instances(story).isSubset(of: restarted), "\(story.stack.logs)")
            #expect(try await story.select("EndlessFocus").count == 120)
        }
    }

    /// The processes that have announced themselves.
    private func instances(_ story: Story) async throws -> Set<String> {
        let documents = try await story.bus.documents(matching: [.type(Document.Presence.self)])
        return Set(documents.compactMap { try? $0.decode(Document.Presence.self).instance })
    }

    /// The messages for each value in each message of each contract. The valid message is the last one on the bus, or
    /// else made from the schema.
    private func hostileMessages(_ story: Story) async throws -> [PublishedMessage] {
        let documents = try await story.bus.documents(matching: [.type(Document.ServiceContract.self)])
        let contracts = try documents.map { try $0.decode(Document.ServiceContract.self) }
        var schemas: [MessageType: JSONSchema] = [:]
        for contract in contracts.flatMap({ $0.receives + $0.sends }) where contract.type.kind != .query {
            if let schema = contract.data { schemas[contract.type] = schema }
        }
        #expect(schemas.count > 30)
        var messages: [PublishedMessage] = []
        for (type, schema) in schemas.sorted(by: { $0.key.description < $1.key.description }) {
            let known = story.stack.messages.last { $0.type == type && !$0.isTombstone }
            let valid = known.flatMap { try? JSONValue(parsing: $0.data) } ?? schema.sample
            for text in valid.hostileTexts {
                messages += Self.messages(type, text, replacing: known, after: messages.count)
            }
        }
        return messages
    }

    /// A hostile message, and the messages beside it that its session needs.
    private static func messages(
        _ type: MessageType, _ text: HostileJSON, replacing known: Envelope?, after count: Int
    ) -> [PublishedMessage] {
        guard type.kind == .document else {
            let session = "hostile-\(type.name)"
            let hostile = message(type, text.json, session: session, number: count)
            // A session begins with a launch. It may have ended meanwhile.
            let launch = message(DomainEvent.LaunchFinished.type, "{}", session: session, number: count + 1)
            return [launch, hostile]
        }
        let isShared = shared.contains(type)
        let session = isShared ? Session.default : "hostile-\(count)"
        let key = known == nil || isShared ? "hostile" : known?.attributes.key
        let hostile = message(type, text.json, session: session, key: key, number: count)
        // The document is there before the first message of its session, as after a restart.
        let launch = message(DomainEvent.LaunchFinished.type, "{}", session: session, number: count + 1)
        return isShared ? [hostile] : [hostile, launch]
    }

    private func send(_ messages: [PublishedMessage], to story: Story) async throws {
        let address = "\(try story.processes.busAddress)/ingress"
        let refusals = try await Stranger.meets(address) { stranger in
            var refusals: [String] = []
            for (number, start) in stride(from: 0, to: messages.count, by: 50).enumerated() {
                let batch = Array(messages[start..<min(start + 50, messages.count)])
                guard case .published = try stranger.publish(batch, sequence: UInt64(number + 1)) else {
                    refusals.append("\(batch)")
                    continue
                }
            }
            return refusals
        }
        #expect(refusals.isEmpty)
    }

    /// Begins a session in each partition, and waits for the answers of all services. They handle the messages of a
    /// partition in order, so they have handled all hostile messages before.
    private func isAnswering(_ story: Story, _ name: String) async throws {
        var sessions: [Partition: String] = [:]
        var number = 0
        while sessions.count < Partition.all.count {
            number += 1
            sessions[Partition(subject: "\(name)-\(number)")] = "\(name)-\(number)"
        }
        let start = try await story.bus.end()
        for session in sessions.values {
            try await story.bus.publish(DomainEvent.LaunchFinished(), subject: session)
            try await story.bus.send(Command.PlayOnSpotifyRequested(), subject: session, lifetime: nil)
            try await story.bus.send(
                Command.SpotifyAuthorizationRequested(), subject: session, origin: Origin(platform: "ios"),
                lifetime: nil)
        }
        // The error is that of the music service, which has nothing to play.
        let answers: [any Message.Type] = [
            Document.NavigationState.self, DomainEvent.SpotifyAuthURLGenerated.self, ApplicationError.self,
            Document.ErrorBanner.self,
        ]
        let wanted = sessions.values.flatMap { session in
            answers.types.map { "\(session) \($0) \($0 == Document.NavigationState.type ? "ios" : "")" }
                + ["\(session) \(Document.NavigationState.type) mac"]
        }
        try await withTimeLimit(.seconds(240), orThrow: BusError(.deadline, "the services do not answer")) {
            try await story.bus.withSubscription(to: answers.types.map { .type($0) }, from: .after(start)) { messages in
                var missing = Set(wanted)
                for try await message in messages {
                    missing.remove("\(message.subject) \(message.type) \(message.attributes.key ?? "")")
                    if missing.isEmpty { return }
                }
            }
        }
    }
}
