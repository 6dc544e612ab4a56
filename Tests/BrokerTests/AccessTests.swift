import BusAccess
import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import Broker
@testable import BusKeys

@Suite("Rights in the broker")
struct AccessTests {
    /// The users of a bus with an access file. The text of each user's key is its name.
    private struct Bus {
        let fixture: Fixture
        private let producers: [String: ProducerID]

        init(_ fixture: Fixture) {
            self.fixture = fixture
            var (music, coordinator, devices) = (AccessEntry(), AccessEntry(), AccessEntry())
            music.publishes = [Self.event("Loaded"), Self.document("Playlists")]
            music.reads = [Self.event("Launched"), Self.document("Playlists")]
            music.claims = ["music"]
            music.serves = [Self.query("Songs")]
            coordinator.reads = [Self.event("Launched")]
            coordinator.claims = ["navigation-coordinator.ios"]
            devices.publishes = [Self.event("Launched")]
            devices.reads = [Self.document("Playlists"), Self.event("Launched")]
            devices.asks = [Self.query("Songs")]
            let access = Access(services: ["music": music, "coordinator": coordinator], devices: devices)
            let roles: [String: KeyRole] = [
                "music": .service, "coordinator": .service, "stranger": .service, "phone": .device(session: "anna"),
                "watch": .monitor, "operator": .operator,
            ]
            producers = roles.mapValues { _ in ProducerID() }
            let users = roles.map { name, role in
                let key = KnownKey(name: name, publicKey: CurveKeyPair().publicKey, role: role, nkey: nil, until: nil)
                return (name, Rights(of: key, in: access))
            }
            _ = fixture.engine.accept(Dictionary(uniqueKeysWithValues: users), now: fixture.now)
        }

        static func run(_ body: (Bus) throws -> Void) throws {
            try Fixture.run { try body(Bus($0)) }
        }

        static func event(_ name: String) -> MessageType { MessageType(kind: .event, name: name) }
        static func document(_ name: String) -> MessageType { MessageType(kind: .document, name: name) }
        static func query(_ name: String) -> MessageType { MessageType(kind: .query, name: name) }

        func ask(_ request: Request, as user: String, id: UInt64 = 1) -> Reply {
            let incoming = Incoming(peer: Array(user.utf8), frames: request.frames(id: id), user: user)
            return fixture.reply(fixture.handle([incoming]))
        }

        /// - Returns: The code of the refusal; nil if the request succeeded.
        func refusal(of request: Request, as user: String, id: UInt64 = 1) -> ProtocolError.Code? {
            guard case .refused(let error) = ask(request, as: user, id: id) else { return nil }
            return error.code
        }

        func publish(
            _ type: MessageType, as user: String, sequence: UInt64, subject: String = "default", key: String = "",
            isTransient: Bool = false, isLeased: Bool = false, checkpoint: CheckpointFrame? = nil,
            rejection: RejectionFrame? = nil,
            settling letters: [Int64] = []
        ) -> ProtocolError.Code? {
            let message = Fixture.message(type.name, kind: type.kind, subject: subject, key: key)
            return refusal(
                of: .publish(
                    PublishRequest(
                        producer: producers[user] ?? ProducerID(), sequence: sequence, isLeased: isLeased,
                        isTransient: isTransient,
                        checkpoint: checkpoint, rejection: rejection, resolvedDeadLetters: letters,
                        messages: [message])), as: user)
        }

        func claim(_ consumer: String, as user: String) -> Reply {
            ask(
                .claim(
                    ClaimRequest(
                        producer: producers[user] ?? ProducerID(), member: .exclusive, consumer: consumer,
                        purpose: .claim)), as: user)
        }

        /// - Returns: The sessions of the messages of a page; nil if the request is refused.
        func sessions(_ request: Request, as user: String) -> [String]? {
            guard case .page(let page) = ask(request, as: user) else { return nil }
            return page.messages.map { $0.origin?.session ?? "" }
        }
    }

    private static func page(_ prefixes: String...) -> PageRequest {
        PageRequest(epoch: 0, after: 0, prefixes: prefixes)
    }

    @Test("A service publishes what it declares, and nothing of a batch with anything else is recorded")
    func publishing() throws {
        try Bus.run { bus in
            #expect(bus.publish(Bus.event("Loaded"), as: "music", sequence: 1) == nil)
            for sequence in 2...3 as ClosedRange<UInt64> {
                #expect(bus.publish(Bus.event("Launched"), as: "music", sequence: sequence) == .forbidden)
            }
            #expect(
                bus.publish(Bus.event("Launched"), as: "music", sequence: 3) == .forbidden, "also when it is repeated")
            #expect(bus.publish(Bus.event("Loaded"), as: "music", sequence: 1, isTransient: true) == nil)
            #expect(bus.publish(Bus.event("Launched"), as: "music", sequence: 2, isTransient: true) == .forbidden)
            #expect(bus.publish(Bus.event("Loaded"), as: "stranger", sequence: 1) == .forbidden)
            #expect(bus.publish(Bus.event("Loaded"), as: "watch", sequence: 1) == .forbidden)
            #expect(bus.fixture.journal.head == 1)
            #expect(bus.publish(Bus.event("Anything"), as: "operator", sequence: 1) == nil)
            let refused = try #require(bus.fixture.engine.drainRefusals().forbidden)
            #expect(refused.count == 6)
            #expect(
                refused.reason
                    == "'watch' is a monitor and may not publish event.Loaded; use a key with the role operator")
        }
    }

    @Test("The presence of a process can be replaced and withdrawn only by the user that has published it")
    func presences() throws {
        try Bus.run { bus in
            func publish(
                _ key: String, as user: String, sequence: UInt64, isLeased: Bool = true
            ) -> ProtocolError.Code? {
                bus.publish(Bus.document("Presence"), as: user, sequence: sequence, key: key, isLeased: isLeased)
            }
            #expect(publish("m1", as: "music", sequence: 1, isLeased: false) == .forbidden, "it ends with its process")
            #expect(publish("m1", as: "music", sequence: 2) == nil)
            #expect(publish("m1", as: "music", sequence: 3) == nil)
            #expect(publish("m1", as: "music", sequence: 4, isLeased: false) == .forbidden)
            #expect(publish("c1", as: "coordinator", sequence: 1) == nil)
            #expect(publish("m1", as: "coordinator", sequence: 2) == .forbidden)
            #expect(publish("m1", as: "phone", sequence: 1) == .forbidden)
            #expect(publish("p1", as: "phone", sequence: 2) == nil)
            #expect(publish("m1", as: "operator", sequence: 1, isLeased: false) == nil)
        }
    }

    @Test("Only its own process claims a consumer, records its progress and settles its dead letters")
    func consumers() throws {
        try Bus.run { bus in
            #expect(bus.publish(Bus.event("Launched"), as: "operator", sequence: 1) == nil)
            for user in ["music", "phone", "watch", "stranger"] {
                guard case .refused(let error) = bus.claim("navigation-coordinator.ios", as: user) else {
                    Issue.record("\(user) may claim")
                    return
                }
                #expect(error.code == .forbidden)
            }
            guard case .claimed(let claimed) = bus.claim("navigation-coordinator.ios", as: "coordinator") else {
                Issue.record("the coordinator may not claim")
                return
            }
            let checkpoint = bus.fixture.checkpoint(
                "navigation-coordinator.ios", owner: claimed.ownerGeneration, offset: 1)
            let rejection = RejectionFrame(attempts: 1, code: "a.b", reason: "no")
            #expect(bus.publish(Bus.event("Loaded"), as: "music", sequence: 1, checkpoint: checkpoint) == .forbidden)
            #expect(
                bus.publish(
                    Bus.event("MessageDiscarded"), as: "coordinator", sequence: 1, checkpoint: checkpoint,
                    rejection: rejection) == nil)
            let letters = DeadLettersRequest(after: 0, consumer: "navigation-coordinator.ios")
            #expect(bus.refusal(of: .deadLetters(letters), as: "music") == .forbidden)
            #expect(
                bus.refusal(of: .deadLetters(DeadLettersRequest(after: 0, consumer: "")), as: "music") == .forbidden)
            #expect(bus.refusal(of: .countDeadLetters("navigation-coordinator.ios"), as: "phone") == .forbidden)
            guard case .deadLetters(let found) = bus.ask(.deadLetters(letters), as: "coordinator"),
                let id = found.deadLetters.first?.id
            else {
                Issue.record("the coordinator may not read its dead letters")
                return
            }
            #expect(bus.publish(Bus.event("Loaded"), as: "music", sequence: 2, settling: [id]) == .forbidden)
            #expect(bus.publish(Bus.event("MessageDiscarded"), as: "coordinator", sequence: 2, settling: [id]) == nil)
            #expect(bus.refusal(of: .forget("music"), as: "coordinator") == .forbidden)
            #expect(bus.refusal(of: .consumers, as: "music") == .forbidden)
            #expect(bus.refusal(of: .consumers, as: "watch") == nil)
        }
    }

    @Test("Queries are served and asked as declared")
    func queries() throws {
        try Bus.run { bus in
            func serve(_ user: String) -> ProtocolError.Code? {
                let request = ServeRequest(producer: ProducerID(), types: [Bus.query("Songs")])
                return bus.refusal(of: .serve(request), as: user)
            }
            var number: UInt64 = 1
            func ask(_ user: String, _ session: String) -> ProtocolError.Code? {
                number += 1
                let query = Fixture.message("Songs", kind: .query, subject: session)
                let frames = Request.ask(AskRequest(timeout: 1000, query: query)).frames(id: number)
                let outgoing = bus.fixture.handle([Incoming(peer: Array(user.utf8), frames: frames, user: user)])
                guard let reply = outgoing.frames.first(where: { $0.peer == Array(user.utf8) }),
                    case .refused(let error)? = try? Reply.read(reply.frames).reply
                else { return nil }
                return error.code
            }
            #expect(serve("coordinator") == .forbidden)
            #expect(ask("phone", "anna") == .unserved)
            #expect(serve("music") == nil)
            #expect(ask("phone", "boris") == .forbidden)
            // One user cannot keep a server from the others.
            for _ in 0..<UserLimits().openQueries { #expect(ask("phone", "anna") == nil) }
            #expect(ask("phone", "anna") == .unserved)
            #expect(ask("operator", "anna") == nil)
            #expect(ask("music", "anna") == .forbidden)
        }
    }

    @Test("A device reads and writes its own session, and no byte of another, in the same partition or not")
    func devices() throws {
        // Two sessions of one partition.
        let partition = Partition(subject: "anna")
        let neighbour = try #require((0..<1000).map { "s\($0)" }.first { Partition(subject: $0) == partition })
        try Bus.run { bus in
            for (index, session) in ["anna", neighbour, "boris"].enumerated() {
                let sequence = UInt64(2 * index + 1)
                #expect(
                    bus.publish(Bus.document("Playlists"), as: "operator", sequence: sequence, subject: session) == nil)
                #expect(
                    bus.publish(Bus.event("Launched"), as: "operator", sequence: sequence + 1, subject: session) == nil)
            }
            #expect(bus.publish(Bus.event("Launched"), as: "phone", sequence: 1, subject: "anna") == nil)
            #expect(bus.publish(Bus.event("Launched"), as: "phone", sequence: 2, subject: neighbour) == .forbidden)
            #expect(bus.publish(Bus.document("Flow"), as: "operator", sequence: 7, key: "ios") == nil)
            #expect(
                bus.sessions(.read(Self.page("event.", "document.")), as: "phone") == [
                    "anna", "anna", "anna", "default",
                ])
            #expect(bus.sessions(.documents(Self.page("document.")), as: "phone") == ["anna", "default"])
            #expect(bus.refusal(of: .read(Self.page("command.")), as: "phone") == .forbidden)
            for session in [neighbour, "boris", "default"] {
                let one = try DocumentRequest(type: Bus.document("Playlists"), subject: session, key: "")
                #expect(bus.refusal(of: .document(one), as: "phone") == .forbidden)
                let some = try SubjectRequest(after: 0, type: Bus.document("Playlists"), subject: session)
                #expect(bus.refusal(of: .documentsOfSubject(some), as: "phone") == .forbidden)
            }
            guard case .heads(let heads) = bus.ask(.heads(Self.page("event.", "document.")), as: "phone") else {
                Issue.record("a device may not ask for heads")
                return
            }
            let readable = [Bus.event("Launched"), Bus.document("Playlists")].map { Topic($0, subject: "anna").name }
            #expect(Set(heads.offsets.keys) == Set(readable + [Topic(Bus.document("Flow"), subject: "default").name]))
        }
    }

    @Test("Rights that change take effect at once, and end no lease or membership")
    func changes() throws {
        try Bus.run { bus in
            #expect(bus.publish(Bus.event("Loaded"), as: "music", sequence: 1) == nil)
            let key = KnownKey(
                name: "music", publicKey: CurveKeyPair().publicKey, role: .service, nkey: nil, until: nil)
            _ = bus.fixture.engine.accept(
                ["music": Rights(of: key, in: Access(services: [:]))], now: bus.fixture.now)
            #expect(bus.publish(Bus.event("Loaded"), as: "music", sequence: 2) == .forbidden)
            _ = bus.fixture.engine.accept(["music": Rights(of: key, in: nil)], now: bus.fixture.now)
            #expect(bus.publish(Bus.event("Loaded"), as: "music", sequence: 3) == nil)
        }
    }
}
