import BusAccess
import BusFormat
import BusProtocol
import EventBus
import Foundation
import TestSupport
import Testing

@testable import Broker
@testable import BusKeys

@Suite("What one user may have at the broker")
struct UserLimitsTests {
    /// Users of a bus with keys and without an access file, so that each may do everything. The text of each user's key
    /// is its name.
    private final class Bus {
        let fixture: Fixture
        private var producers: [String: ProducerID] = [:]
        private var sequences: [ProducerID: UInt64] = [:]

        init(_ fixture: Fixture) {
            self.fixture = fixture
            acceptUsers()
        }

        static func run(_ configure: (inout UserLimits) -> Void, _ body: (Bus) throws -> Void) throws {
            try Fixture.run({ configure(&$0.userLimits) }, { try body(Bus($0)) })
        }

        private func acceptUsers() {
            let roles: [String: KeyRole] = ["flood": .service, "calm": .service, "phone": .device(session: "anna")]
            let users = roles.map { name, role in
                let key = KnownKey(name: name, publicKey: CurveKeyPair().publicKey, role: role, nkey: nil, until: nil)
                return (name, Rights(of: key, in: nil))
            }
            _ = fixture.engine.accept(Dictionary(uniqueKeysWithValues: users), now: fixture.now)
        }

        func restart() throws {
            try fixture.restart()
            acceptUsers()
        }

        func ask(_ request: Request, as user: String) -> Reply {
            let incoming = Incoming(peer: Array(user.utf8), frames: request.frames(id: 1), user: user)
            return fixture.reply(fixture.handle([incoming]))
        }

        func code(_ request: Request, as user: String) -> ProtocolError.Code? {
            guard case .refused(let error) = ask(request, as: user) else { return nil }
            if error.code == .journal { Issue.record(error) }
            return error.code
        }

        /// - Returns: The code of the refusal; nil if the message was recorded.
        @discardableResult
        func publish(
            _ name: String, kind: MessageKind = .event, as user: String, key: String = "", size: Int = 1,
            subject: String = "default", by producer: ProducerID? = nil, isTransient: Bool = false,
            checkpoint: CheckpointFrame? = nil, rejection: RejectionFrame? = nil
        ) -> ProtocolError.Code? {
            let sender = isTransient ? "\(user), transient" : user
            let producer = producer ?? producers[sender] ?? ProducerID()
            producers[sender] = producer
            sequences[producer, default: 0] += 1
            return code(
                .publish(
                    PublishRequest(
                        producer: producer, sequence: sequences[producer, default: 1], isLeased: false,
                        isTransient: isTransient, checkpoint: checkpoint, rejection: rejection,
                        resolvedDeadLetters: [],
                        messages: [Fixture.message(name, kind: kind, subject: subject, key: key, size: size)])),
                as: user)
        }
    }

    @Test("A user begins no more topics than its limit, also after a restart; others do")
    func topics() throws {
        try Bus.run {
            $0.topics = 3
        } _: { bus in
            for isTransient in [false, true] {
                for number in 0..<3 {
                    #expect(bus.publish("E\(number)", as: "flood", isTransient: isTransient) == nil)
                }
                #expect(bus.publish("E3", as: "flood", isTransient: isTransient) == .tooLarge)
                #expect(bus.publish("E2", as: "flood", isTransient: isTransient) == nil)
            }
            try bus.restart()
            #expect(bus.publish("E3", as: "flood") == .tooLarge)
            #expect(bus.publish("E3", as: "calm") == nil)
            #expect(bus.publish("E3", as: "flood") == nil, "it is the topic of another user")
        }
    }

    @Test("A user begins no more durable consumers than its limit, also after a restart")
    func consumers() throws {
        try Bus.run {
            $0.consumers = 2
        } _: { bus in
            func claim(_ name: String, as user: String) -> ProtocolError.Code? {
                bus.code(
                    .claim(
                        ClaimRequest(producer: ProducerID(), member: .exclusive, consumer: name, purpose: .claim)),
                    as: user)
            }
            #expect(claim("a", as: "flood") == nil)
            #expect(claim("b", as: "flood") == nil)
            try bus.restart()
            #expect(claim("c", as: "flood") == .tooLarge)
            #expect(claim("b", as: "flood") == nil)
            #expect(claim("c", as: "calm") == nil)
            try bus.fixture.tick(after: .seconds(10))
            #expect(bus.code(.forget("a"), as: "flood") == nil)
            #expect(claim("d", as: "flood") == nil)
        }
    }

    @Test("A key has no more processes at a time than its limit")
    func processes() throws {
        try Bus.run {
            $0.presentProducers = 2
        } _: { bus in
            func hello(_ producer: ProducerID, as user: String) -> ProtocolError.Code? {
                bus.code(.hello(Greeting(producer: producer, epoch: 0, head: 0, mark: 0)), as: user)
            }
            let producers = (0..<4).map { _ in ProducerID() }
            #expect(producers.map { hello($0, as: "flood") } == [nil, nil, .tooLarge, .tooLarge])
            #expect(hello(producers[0], as: "flood") == nil)
            #expect(hello(producers[2], as: "calm") == nil)
            #expect(bus.publish("E", as: "flood", by: producers[3]) == .tooLarge)
            try bus.fixture.tick(after: .seconds(10))
            #expect(hello(producers[3], as: "flood") == nil)
        }
    }

    @Test("A flood of producers does not make the broker forget those of other users")
    func producers() throws {
        try Bus.run {
            $0.producers = 8
        } _: { bus in
            let (calm, last) = (ProducerID(), ProducerID())
            #expect(bus.publish("E", as: "calm", by: calm) == nil)
            for _ in 0..<20 {
                #expect(bus.publish("E", as: "flood", by: ProducerID()) == nil)
                try bus.fixture.tick(after: .seconds(1))
            }
            #expect(bus.publish("E", as: "flood", by: last) == nil)
            try bus.fixture.tick(after: .seconds(10))
            let known = bus.fixture.journal.producers
            #expect(known.rows.values.filter { $0.publisher == "flood" }.count <= 9)
            #expect(known[calm] != nil && known[last] != nil)
            try bus.restart()
            #expect(bus.fixture.journal.producers[calm]?.publisher == "calm")
        }
    }

    @Test("The documents of a user have a maximum size; what is replaced or withdrawn makes room")
    func documents() throws {
        try Bus.run {
            ($0.documentSize, $0.deviceDocumentSize) = (10 << 10, 2 << 10)
        } _: { bus in
            func publish(_ key: String, _ size: Int, as user: String = "flood") -> ProtocolError.Code? {
                bus.publish("D", kind: .document, as: user, key: key, size: size, subject: "anna")
            }
            #expect(publish("a", 4000) == nil)
            #expect(publish("b", 4000) == nil)
            #expect(publish("c", 4000) == .tooLarge)
            #expect(publish("b", 5000) == nil)
            #expect(publish("small", 1) == nil, "it counts 1 KiB")
            #expect(publish("smaller", 1) == .tooLarge)
            try bus.restart()
            #expect(publish("smaller", 1) == .tooLarge)
            #expect(publish("a", 0) == nil)
            #expect(publish("c", 4000) == nil)
            // Another user takes a document over.
            #expect(publish("c", 4000, as: "calm") == nil)
            #expect(publish("d", 4000) == nil)
            #expect(publish("e", 4000) == .tooLarge)
            // A document that is in a batch several times makes room once.
            let large = Fixture.message("D", kind: .document, subject: "anna", key: "b", size: 5000)
            let small = Fixture.message("D", kind: .document, subject: "anna", key: "b", size: 1)
            let new = Fixture.message("D", kind: .document, subject: "anna", key: "new", size: 5000)
            let batch = PublishRequest(
                producer: ProducerID(), sequence: 1, messages: Array(repeating: small, count: 100) + [large, new])
            #expect(bus.code(.publish(batch), as: "flood") == .tooLarge)
            #expect(publish("x", 1, as: "phone") == nil)
            #expect(publish("y", 1500, as: "phone") == .tooLarge)
        }
    }

    @Test("Beyond the size of a user's dead letters, the oldest of the publisher with the most are removed")
    func deadLetters() throws {
        try Bus.run {
            $0.deadLetterSize = 20 << 10
        } _: { bus in
            let consumers = ["c", "d"]
            var generations: [UInt64] = []
            for consumer in consumers {
                let claim = ClaimRequest(
                    producer: ProducerID(), member: .exclusive, consumer: consumer, purpose: .claim)
                guard case .claimed(let claimed) = bus.ask(.claim(claim), as: "calm") else {
                    Issue.record("no claim")
                    return
                }
                generations.append(claimed.ownerGeneration)
            }
            for number in 0..<40 {
                // Small letters count more than their bytes.
                let user = number == 3 ? "calm" : "flood"
                #expect(bus.publish("E", as: user, size: number == 3 ? 8000 : 10) == nil)
                let offset = bus.fixture.journal.head
                let checkpoint = CheckpointFrame(
                    consumer: consumers[number % 2], ownerGeneration: generations[number % 2],
                    epoch: bus.fixture.journal.epoch, offset: offset, settled: offset, partition: nil, previous: nil)
                let rejection = RejectionFrame(attempts: 1, code: "bad", reason: "no")
                #expect(bus.publish("F", as: "calm", checkpoint: checkpoint, rejection: rejection) == nil)
                if number == 20 { try bus.restart() }
            }
            let letters = try bus.fixture.journal.deadLetters(DeadLettersRequest(after: 0, consumer: "")).deadLetters
            #expect((9...13).contains(letters.count), "the letters of both consumers together")
            let publishers = letters.map { $0.message.origin?.publisher }
            #expect(publishers.filter { $0 == "calm" }.count == 1)
            // The newest are kept.
            #expect(letters.last?.message.offset == bus.fixture.journal.head - 1)
        }
    }

    @Test("docs/bus.md has the limits of the code")
    func page() throws {
        let limits = UserLimits()
        let page = try String(contentsOfFile: Repository.path("docs/bus.md"), encoding: .utf8)
        func number(_ count: Int) -> String {
            count < 10_000 ? "\(count)" : "\(count / 1000),\(String(format: "%03d", count % 1000))"
        }
        for (name, maximum) in [
            ("connections; a client has two", number(limits.connections)),
            (
                "new connections",
                "\(number(Int(HandshakeRates.burst))) at once, then \(number(Int(HandshakeRates.rate))) a second"
            ),
            ("subscriptions of all connections", number(limits.subscriptions)),
            ("waiting requests", "\(limits.waitingSize >> 20) MiB, and \(number(limits.waitingReads)) that read"),
            ("open queries", number(limits.openQueries)),
            ("processes at a time", number(limits.presentProducers)),
            ("remembered producers", number(limits.producers)),
            ("topics that it has begun", "\(number(limits.topics)) of each kind"),
            ("durable consumers that it has begun", number(limits.consumers)),
            (
                "retained documents",
                "\(limits.documentSize >> 20) MiB; \(limits.deviceDocumentSize >> 20) MiB for a device"
            ),
            ("dead letters that it has rejected", "\(limits.deadLetterSize >> 20) MiB"),
        ] { #expect(page.contains("\n| \(name) | \(maximum) | ")) }
    }
}
