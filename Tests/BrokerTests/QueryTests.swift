import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import Broker

@Suite("Queries in the broker")
struct QueryTests {
    private let type = MessageType(kind: .query, name: "Songs")
    private let query = Fixture.message("Songs", kind: .query)

    private func send(_ request: Request, id: UInt64 = 1, from peer: UInt8, _ fixture: Fixture) -> Outgoing {
        fixture.handle([Incoming(peer: [peer], frames: request.frames(id: id))])
    }

    private func serve(_ fixture: Fixture, from peer: UInt8, as producer: ProducerID = ProducerID()) {
        _ = send(.serve(ServeRequest(producer: producer, types: [type])), from: peer, fixture)
    }

    /// - Returns: The peer that got the query, and the number of the query.
    private func ask(
        _ fixture: Fixture, id: UInt64, timeout: UInt32 = 1000
    ) throws -> (peer: [UInt8], number: UInt64)? {
        let outgoing = send(.ask(AskRequest(timeout: timeout, query: query)), id: id, from: 9, fixture)
        guard let sent = outgoing.frames.first, case .query(let number, query, nil)? = try Notice(sent.frames) else {
            return nil
        }
        return (sent.peer, number)
    }

    private func refusal(_ outgoing: Outgoing) -> ProtocolError.Code? {
        for (peer, frames) in outgoing.frames where peer == [9] {
            if case .refused(let error) = try? Reply.read(frames).reply { return error.code }
        }
        return nil
    }

    @Test("The servers of a type are asked in turn, and each answer goes to its asker")
    func roundTrip() throws {
        try Fixture.run { fixture in
            serve(fixture, from: 1)
            serve(fixture, from: 2)
            let first = try #require(try ask(fixture, id: 7))
            let second = try #require(try ask(fixture, id: 8))
            #expect([first.peer, second.peer] == [[1], [2]])
            let answer = QueryAnswer(query: first.number, content: .message(header: [3], data: [4]))
            let outgoing = send(.answer(answer), from: 1, fixture)
            let replies = try outgoing.frames.map { try ($0.peer, Reply.read($0.frames)) }
            #expect(replies.contains { $0 == [9] && $1.id == 7 && $1.reply == .answer(header: [3], data: [4]) })
            #expect(replies.contains { $0 == [1] && $1.reply == .done })
            #expect(
                send(.answer(answer), from: 1, fixture).frames.count == 1, "an answer that is sent twice counts once")
        }
    }

    @Test("An answer counts only from the client that received the query, also after it has reconnected")
    func stranger() throws {
        try Fixture.run { fixture in
            let producer = ProducerID()
            serve(fixture, from: 1, as: producer)
            serve(fixture, from: 2)
            let query = try #require(try ask(fixture, id: 7))
            #expect(query.peer == [1])
            func answer(from peer: UInt8, _ data: UInt8) throws -> [Reply] {
                let answer = QueryAnswer(query: query.number, content: .message(header: [], data: [data]))
                return try send(.answer(answer), from: peer, fixture).frames.map { try Reply.read($0.frames).reply }
            }
            // Another server of the same type, a stranger, the asker.
            for peer in [2, 3, 9] as [UInt8] { #expect(try answer(from: peer, 66) == []) }
            // The server has a new connection, and must say so first.
            #expect(try answer(from: 4, 1) == [])
            serve(fixture, from: 4, as: producer)
            #expect(try answer(from: 1, 66) == [])
            #expect(try answer(from: 4, 1) == [.answer(header: [], data: [1]), .done])
            #expect(try answer(from: 3, 66) == [.done], "the query is no longer open")
        }
    }

    @Test(
        "A client that has stopped serving can still answer its open queries, also after it has reconnected",
        arguments: [1, 4] as [UInt8])
    func stopped(peer: UInt8) throws {
        try Fixture.run { fixture in
            let producer = ProducerID()
            serve(fixture, from: 1, as: producer)
            let query = try #require(try ask(fixture, id: 7))
            _ = send(.serve(ServeRequest(producer: producer, types: [])), from: 1, fixture)
            let answer = QueryAnswer(query: query.number, content: .failure(ProtocolError(.unserved, "not now")))
            if peer != 1 {
                #expect(send(.answer(answer), from: peer, fixture).frames.isEmpty)
                _ = send(.hello(Greeting(producer: producer)), from: peer, fixture)
            }
            let outgoing = send(.answer(answer), from: peer, fixture)
            #expect(refusal(outgoing) == .unserved)
            #expect(outgoing.frames.contains { $0.peer == [peer] })
            #expect(fixture.engine.desk.openCount == 0)
        }
    }

    @Test("The open queries of a client that has stopped serving are refused when it ends")
    func stoppedAndLeft() throws {
        try Fixture.run { fixture in
            let producer = ProducerID()
            serve(fixture, from: 1, as: producer)
            _ = try #require(try ask(fixture, id: 7))
            _ = send(.serve(ServeRequest(producer: producer, types: [])), from: 1, fixture)
            #expect(refusal(send(.bye(Greeting(producer: producer)), from: 1, fixture)) == .unserved)
            #expect(fixture.engine.desk.openCount == 0)
        }
    }

    @Test("A query that is sent again while it is open is forwarded once")
    func duplicate() throws {
        try Fixture.run { fixture in
            serve(fixture, from: 1)
            let first = try ask(fixture, id: 7)
            #expect(first != nil)
            #expect(send(.ask(AskRequest(timeout: 1000, query: query)), id: 7, from: 9, fixture).frames.isEmpty)
        }
    }

    @Test("A query that no client serves is refused at once")
    func unserved() throws {
        try Fixture.run { fixture in
            #expect(refusal(send(.ask(AskRequest(timeout: 1000, query: query)), from: 9, fixture)) == .unserved)
            let producer = ProducerID()
            serve(fixture, from: 1, as: producer)
            _ = send(.serve(ServeRequest(producer: producer, types: [])), from: 1, fixture)
            #expect(refusal(send(.ask(AskRequest(timeout: 1000, query: query)), from: 9, fixture)) == .unserved)
        }
    }

    @Test("A query ends at its deadline, and its server receives a cancellation")
    func deadline() throws {
        try Fixture.run { fixture in
            serve(fixture, from: 1)
            let number = try #require(try ask(fixture, id: 7, timeout: 1500)).number
            let early = try fixture.engine.tick(now: fixture.now.advanced(by: .seconds(1)))
            #expect(early.frames.isEmpty)
            let outgoing = try fixture.engine.tick(now: fixture.now.advanced(by: .seconds(2)))
            #expect(refusal(outgoing) == .deadline)
            #expect(outgoing.frames.contains { $0.peer == [1] && (try? Notice($0.frames)) == .cancel(id: number) })
            #expect(fixture.engine.desk.openCount == 0)
        }
    }

    @Test("A query is refused when its server says good-bye or is silent", arguments: [true, false])
    func gone(isPolite: Bool) throws {
        try Fixture.run { fixture in
            let producer = ProducerID()
            serve(fixture, from: 1, as: producer)
            _ = try ask(fixture, id: 7, timeout: 60_000)
            if isPolite {
                #expect(refusal(send(.bye(Greeting(producer: producer)), from: 1, fixture)) == .unserved)
            } else {
                try fixture.tick(after: .seconds(4))
                let outgoing = try fixture.engine.tick(now: fixture.now.advanced(by: .seconds(2)))
                #expect(refusal(outgoing) == .unserved)
            }
        }
    }

    @Test("A query that its asker cancels is cancelled at its server")
    func cancelled() throws {
        try Fixture.run { fixture in
            serve(fixture, from: 1)
            let number = try #require(try ask(fixture, id: 7)).number
            let outgoing = send(.cancel(7), id: 8, from: 9, fixture)
            #expect(outgoing.frames.contains { $0.peer == [1] && (try? Notice($0.frames)) == .cancel(id: number) })
            #expect(fixture.engine.desk.openCount == 0)
        }
    }

    @Test("The number of open queries is bounded")
    func bounded() throws {
        try Fixture.run { fixture in
            serve(fixture, from: 1)
            let request = Request.ask(AskRequest(timeout: 60_000, query: query))
            for id in 0..<UInt64(QueryDesk.capacity) {
                _ = send(request, id: id, from: 9, fixture)
            }
            #expect(fixture.engine.desk.openCount == QueryDesk.capacity)
            #expect(refusal(send(request, id: UInt64(QueryDesk.capacity), from: 9, fixture)) == .unserved)
        }
    }
}
