import BusFormat
import BusProtocol
import BusStranger
import Contracts
import EventBus
import Foundation
import HTTPClient
import HTTPTypes
import HostileValues
import PageTestSupport
import SegueTestSupport
import SignIn
import Support
import TestSupport
import Testing
import Vocabulary

/// Sends messages of every type on the bus, and asks every query, with hostile values. `make fuzz` sends every value,
/// and some also on NATS.
@Suite("Messages of every contract with hostile values")
struct HostileContractTests {
    /// The session that the page and the terminal show.
    private static let shown = "shown"

    /// A device in a terminal of its own. Nobody types.
    private static let terminal = TestService(
        "terminal",
        command: [
            "sh", "-c",
            "sleep 100000 | exec script -qfc 'exec \(Repository.path(".build/debug/focus-player")) --platform ios"
                + " --session \(shown)' /dev/null",
        ], after: ["broker"])

    private static let services = [
        "ios-coordinator", "mac-coordinator", "auth-service", "music-service", "error-notifier", "web",
    ]

    /// The services read data in the same way on each engine, so NATS is left to the long run.
    private static let shapes: [Story.Shape] = HostileExtent.ofRun == .long ? [.processes, .nats] : [.processes]

    @Test(
        "No hostile message ends a process or a stream, now or after a restart, and every service answers",
        .timeLimit(.minutes(HostileExtent.ofRun == .long ? 60 : 10)), arguments: shapes)
    func sweep(shape: Story.Shape) async throws {
        let file = shape == .nats ? "compose/nats.yaml" : "compose/default.yaml"
        try await Story.tell(file: file, beside: [Self.terminal]) { story in
            try await story.launch()
            try await story.logIn()
            try await story.select("EndlessFocus")
            try await story.of(Self.shown).launch()
            let instances = try await instances(story)
            // Every value is sent on one engine only.
            let hostile = try await hostileMessages(story, shape == .nats ? .short : .ofRun)
            try await withPage(of: story) { page in
                try await send(hostile.messages, to: story, shape)
                try await ask(hostile.queries, of: story)
                try await isAnswering(story, "first")
                try await isShowing(page, story)
            }
            #expect(try await self.instances(story) == instances, "\(story.stack.processes)")
            for service in Self.services { try await story.processes.killAndRestart(service) }
            let restarted = try await self.instances(story)
            try await isAnswering(story, "second")
            // The killed processes may have been withdrawn meanwhile.
            #expect(try await self.instances(story).isSubset(of: restarted), "\(story.stack.processes)")
            #expect(try await story.select("EndlessFocus").count == 120)
        }
    }

    /// The processes that have announced themselves.
    private func instances(_ story: Story) async throws -> Set<String> {
        let documents = try await story.bus.documents(matching: [.type(Document.Presence.self)])
        return Set(documents.compactMap { try? $0.decode(Document.Presence.self) }.map { "\($0.name)/\($0.instance)" })
    }

    private func hostileMessages(_ story: Story, _ extent: HostileExtent) async throws -> HostileMessages {
        let documents = try await story.bus.documents(matching: [.type(Document.ServiceContract.self)])
        let contracts = try documents.map { try $0.decode(Document.ServiceContract.self) }
        var schemas: [MessageType: JSONSchema] = [:]
        for contract in contracts.flatMap({ $0.receives + $0.sends }) {
            if let schema = contract.data { schemas[contract.type] = schema }
        }
        #expect(schemas.count > 30)
        let hostile = HostileMessages(schemas, known: story.stack.messages, shown: Self.shown, extent)
        #expect(!hostile.queries.isEmpty)
        return hostile
    }

    /// Sends messages in batches, to the broker as another client would.
    private func send(_ messages: [HostileMessage], to story: Story, _ shape: Story.Shape) async throws {
        let batches = stride(from: 0, to: messages.count, by: 50).map {
            Array(messages[$0..<min($0 + 50, messages.count)])
        }
        if shape == .nats {
            for batch in batches { try await story.bus.publish(Batch(batch.map(\.envelope))) }
            return
        }
        let frames = batches.map { $0.map(\.published) }
        let address = "\(try story.processes.busAddress)/ingress"
        let refusals = try await Stranger.withConnection(to: address) { stranger in
            try frames.enumerated().compactMap { number, batch -> String? in
                let reply = try stranger.publish(batch, sequence: UInt64(number + 1))
                if case .published = reply { return nil }
                return "\(reply)"
            }
        }
        #expect(refusals.isEmpty)
    }

    /// Asks queries one after the other. Each has an answer or an error.
    private func ask(_ queries: [HostileMessage], of story: Story) async throws {
        for query in queries {
            do {
                _ = try await story.bus.ask(query.envelope, timeout: .seconds(60))
            } catch let error as BusError where error.code != .deadline && error.code != .unserved {
                continue
            }
        }
        let songs = try await story.bus.ask(
            Query.PlaylistSongs(playlistID: "EndlessFocus"), timeout: .seconds(60))
        #expect(songs.total == 120)
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
        let start = try await story.bus.inspect.end()
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

    // MARK: The page

    /// Runs `body` while a page is connected. It shows all messages, the processes, and a device.
    private func withPage(of story: Story, _ body: (EventStream) async throws -> Void) async throws {
        try await HTTPClient.with { http in
            let page = try await PageClient.signIn(http, PageFolder(state: try story.processes.dataDirectory))
            let stream = try page.stream("hostile-page")
            defer { stream.close() }
            // After this event the gateway knows the stream.
            _ = try await stream.next()
            let views: JSONValue = [
                ["id": "m", "kind": "messages"], ["id": "p", "kind": "processes"],
                ["id": "d", "kind": "device", "device": "phone", "platform": "ios", "session": .string(Self.shown)],
            ]
            let answer = try await page.post("/api/stream/hostile-page/views", ["open": views])
            try #require(answer.status == .noContent, "\(answer.text)")
            try await body(stream)
        }
    }

    /// Waits until the page's stream, which has been open all the time, has a new message.
    private func isShowing(_ page: EventStream, _ story: Story) async throws {
        let error = try await story.bus.publish(ApplicationError(code: "shown", message: "The last row."))
        try await withTimeLimit(.seconds(60), orThrow: BusError(.deadline, "the page does not show a new message")) {
            while let event = try await page.next() {
                if event.data.description.contains(error.id) { return }
            }
            throw BusError(.closed, "the page's stream has ended")
        }
    }
}

extension HostileMessage {
    /// The message as another client of the broker sends it.
    fileprivate var published: PublishedMessage {
        let attributes = attributes
        let header = JSONValue.object(members: [
            ("id", .string(attributes.id)), ("source", .string(attributes.source)), ("specversion", "1.0"),
            ("type", .string("\(type)")), ("subject", .string(session)), ("platform", "ios"),
            ("key", key.map { .string($0) }),
        ])
        return PublishedMessage(
            topic: Topic(type, subject: session).name, subject: session, key: key ?? "",
            header: Array(header.description.utf8)[...], data: Array(json.utf8)[...])
    }
}
