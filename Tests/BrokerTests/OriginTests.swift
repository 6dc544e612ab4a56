import BusAccess
import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import Broker
@testable import BusKeys

/// Each message here has the session `anna`; what its header says, the broker does not read.
@Suite("Verified origins in the broker")
struct OriginTests {
    private let users = ["key-of-music": Rights.unlimited("music-service"), "key-of-phone": .unlimited("phone")]
    private let origin = VerifiedOrigin(session: "anna", publisher: "music-service")

    private func run(_ body: (Fixture) throws -> Void) throws {
        try Fixture.run { fixture in
            _ = fixture.engine.accept(users, now: fixture.now)
            try body(fixture)
        }
    }

    private func send(_ request: Request, as user: String = "key-of-music", _ fixture: Fixture) -> Outgoing {
        fixture.handle([Incoming(peer: Array(user.utf8), frames: request.frames(id: 1), user: user)])
    }

    private func ask(_ request: Request, _ fixture: Fixture) -> Reply {
        fixture.reply(send(request, fixture))
    }

    private func batch(
        _ name: String, kind: MessageKind = .event, sequence: UInt64 = 1, isLeased: Bool = false,
        isTransient: Bool = false, _ fixture: Fixture
    ) -> Request {
        .publish(
            PublishRequest(
                producer: fixture.producer, sequence: sequence, isLeased: isLeased, isTransient: isTransient,
                messages: [Fixture.message(name, kind: kind, subject: "anna")]))
    }

    private func page(_ reply: Reply) -> [VerifiedOrigin?] {
        guard case .page(let page) = reply else { return [] }
        return page.messages.map(\.origin)
    }

    @Test("The feed, pages, documents and dead letters carry the session and the publisher, also after a restart")
    func everywhere() throws {
        try run { fixture in
            #expect(send(batch("A", fixture), fixture).feed.map(\.origin) == [origin])
            #expect(send(batch("B", sequence: 1, isTransient: true, fixture), fixture).feed.map(\.origin) == [origin])
            #expect(send(batch("C", kind: .document, sequence: 2, fixture), fixture).feed.map(\.origin) == [origin])
            let claim = ClaimRequest(
                producer: fixture.producer, member: .exclusive, consumer: "music", purpose: .claim)
            guard case .claimed(let claimed) = ask(.claim(claim), fixture) else { return }
            let rejected = PublishRequest(
                producer: fixture.producer, sequence: 3,
                checkpoint: fixture.checkpoint("music", owner: claimed.ownerGeneration, offset: 1),
                rejection: RejectionFrame(attempts: 1, code: "message.malformed", reason: "no such song"), messages: [])
            _ = send(.publish(rejected), fixture)
            for isRestarted in [false, true] {
                if isRestarted {
                    try fixture.restart()
                    _ = fixture.engine.accept(users, now: fixture.now)
                }
                let all = PageRequest(epoch: 0, after: 0, prefixes: ["event.", "document."])
                #expect(page(ask(.read(all), fixture)) == [origin, origin])
                #expect(page(ask(.documents(all), fixture)) == [origin])
                let type = MessageType(kind: .document, name: "C")
                let one = try DocumentRequest(type: type, subject: "anna", key: "")
                #expect(page(ask(.document(one), fixture)) == [origin])
                let some = try SubjectRequest(after: 0, type: type, subject: "anna")
                #expect(page(ask(.documentsOfSubject(some), fixture)) == [origin])
                let letters = DeadLettersRequest(after: 0, consumer: "")
                for request in [Request.deadLetters(letters), .listDeadLetters(letters)] {
                    switch ask(request, fixture) {
                    case .deadLetters(let page), .deadLetterSummaries(let page):
                        #expect(page.deadLetters.map(\.message.origin) == [origin])
                    default: Issue.record("no dead letters")
                    }
                }
            }
        }
    }

    @Test("A query arrives with its asker's name, and its answer with its server's name")
    func queries() throws {
        try run { fixture in
            let type = MessageType(kind: .query, name: "Songs")
            _ = send(.serve(ServeRequest(producer: fixture.producer, types: [type])), fixture)
            let query = Fixture.message("Songs", kind: .query, subject: "anna")
            let asked = send(.ask(AskRequest(timeout: 1000, query: query)), as: "key-of-phone", fixture)
            let sent = try #require(asked.frames.first)
            guard case .query(let number, query, let asker)? = try Notice(sent.frames) else {
                Issue.record("the server gets no query")
                return
            }
            #expect(asker == VerifiedOrigin(session: "anna", publisher: "phone"))
            let answer = QueryAnswer(query: number, content: .message(header: [3], data: [4]))
            let reply = try #require(send(.answer(answer), fixture).frames.first)
            #expect(reply.peer == Array("key-of-phone".utf8))
            let answered = try Reply.read(reply.frames).reply
            #expect(answered == .answer(header: [3], data: [4], origin))
        }
    }

    @Test("The broker's own messages have its name")
    func broker() throws {
        try run { fixture in
            _ = send(batch("A", kind: .document, isLeased: true, fixture), fixture)
            let withdrawal = fixture.engine.accept(["key-of-phone": .unlimited("phone")], now: fixture.now).feed
            #expect(withdrawal.map(\.origin) == [VerifiedOrigin(session: "anna", publisher: VerifiedOrigin.broker)])
            #expect(withdrawal.map(\.data.isEmpty) == [true])
        }
    }

    @Test("A changed origin in the file is damage: its message is not delivered")
    func changed() throws {
        try run { fixture in
            for sequence in 1...3 as ClosedRange<UInt64> {
                _ = send(batch("A", sequence: sequence, fixture), fixture)
            }
            try fixture.execute("UPDATE messages SET session = 'boris' WHERE offset = 1")
            try fixture.execute("UPDATE messages SET session = NULL, publisher = NULL WHERE offset = 2")
            let all = PageRequest(epoch: 0, after: 0, prefixes: ["event."])
            guard case .page(let page) = ask(.read(all), fixture) else {
                return
            }
            #expect(page.damaged == [1, 2])
            #expect(page.messages.map(\.origin) == [origin])
        }
    }

    @Test("Messages from before the bus had keys have no origin, and those after them keep theirs")
    func before() throws {
        try Fixture.run { fixture in
            _ = fixture.ask(batch("A", fixture))
            _ = fixture.engine.accept(users, now: fixture.now)
            _ = send(batch("A", sequence: 2, fixture), fixture)
            let all = PageRequest(epoch: 0, after: 0, prefixes: ["event."])
            #expect(page(ask(.read(all), fixture)) == [nil, origin])
        }
    }
}

extension Rights {
    static func unlimited(_ name: String) -> Rights {
        Rights(
            of: KnownKey(name: name, publicKey: CurveKeyPair().publicKey, role: .operator, nkey: nil, until: nil),
            in: nil)
    }
}
