internal import BusProtocol
internal import EventBus

/// Who serves which queries, and which queries are open. Nothing of it is journalled: whoever serves says so again and again.
struct QueryDesk {
    /// Open queries, and clients that serve, at most.
    static let capacity = 10_000

    private struct Server {
        var peer: [UInt8]
        var types: Set<MessageType>
    }

    private struct Asker: Hashable {
        let peer: [UInt8]
        let request: UInt64
    }

    private struct OpenQuery {
        let asker: Asker
        let server: ProducerID
        let deadline: ContinuousClock.Instant
    }

    private var servers: [ProducerID: Server] = [:]
    /// Who serves each type, whose turn it is first.
    private var turns: [MessageType: [ProducerID]] = [:]
    private var open: [UInt64: OpenQuery] = [:]
    private var numbers: [Asker: UInt64] = [:]
    /// Begins anywhere: an answer to a query that an earlier broker passed on must not fit one of this broker.
    private var lastNumber = UInt64.random(in: 0...UInt64.max / 2)

    var openCount: Int { open.count }

    /// All that a client serves from now on.
    mutating func serve(_ request: ServeRequest, peer: [UInt8]) throws(ProtocolError) {
        guard servers[request.producer] != nil || servers.count < Self.capacity else {
            throw ProtocolError(.tooLarge, "\(Self.capacity) clients serve queries already")
        }
        let types = Set(request.types)
        for type in (servers[request.producer]?.types ?? []).subtracting(types) {
            withdraw(request.producer, from: type)
        }
        for type in types.subtracting(servers[request.producer]?.types ?? []) {
            turns[type, default: []].append(request.producer)
        }
        servers[request.producer] = types.isEmpty ? nil : Server(peer: peer, types: types)
    }

    /// Passes a query on to whose turn it is.
    mutating func ask(
        _ request: AskRequest, peer: [UInt8], id: UInt64, now: ContinuousClock.Instant, _ outgoing: inout Outgoing
    ) throws(ProtocolError) {
        let asker = Asker(peer: peer, request: id)
        // It was sent again while it is being answered.
        guard numbers[asker] == nil else { return }
        let type = try request.query.validated().type
        guard open.count < Self.capacity else {
            throw ProtocolError(.unserved, "\(Self.capacity) queries are open: ask again later")
        }
        guard let server = turns[type]?.first, let address = servers[server]?.peer else {
            throw ProtocolError(.unserved, "nobody serves \(type)")
        }
        turns[type]?.removeFirst()
        turns[type]?.append(server)
        lastNumber += 1
        numbers[asker] = lastNumber
        open[lastNumber] = OpenQuery(
            asker: asker, server: server, deadline: now + .milliseconds(Int64(request.timeout)))
        outgoing.send(Notice.query(id: lastNumber, request.query).frames, to: address)
    }

    /// Hands an answer to whoever waits for it, if anybody does.
    mutating func answer(_ answer: QueryAnswer, _ outgoing: inout Outgoing) {
        let reply: Reply =
            switch answer.content {
            case .message(let header, let data): .answer(header: header, data: data)
            case .failure(let error): .refused(error)
            }
        close(answer.query, reply, &outgoing)
    }

    /// The asker no longer waits.
    mutating func cancel(_ id: UInt64, peer: [UInt8], _ outgoing: inout Outgoing) {
        guard let number = numbers.removeValue(forKey: Asker(peer: peer, request: id)) else { return }
        tellServer(of: number, &outgoing)
        open[number] = nil
    }

    mutating func expire(now: ContinuousClock.Instant, _ outgoing: inout Outgoing) {
        for (number, query) in open where query.deadline <= now {
            tellServer(of: number, &outgoing)
            close(number, .refused(ProtocolError(.deadline, "no answer came in time")), &outgoing)
        }
    }

    /// A client has gone: nobody will answer what it was asked.
    mutating func leave(_ producer: ProducerID, _ outgoing: inout Outgoing) {
        guard let server = servers.removeValue(forKey: producer) else { return }
        for type in server.types {
            withdraw(producer, from: type)
        }
        for (number, query) in open where query.server == producer {
            close(number, .refused(ProtocolError(.unserved, "who served the query has gone")), &outgoing)
        }
    }

    private mutating func withdraw(_ producer: ProducerID, from type: MessageType) {
        turns[type]?.removeAll { $0 == producer }
        if turns[type]?.isEmpty == true { turns[type] = nil }
    }

    private func tellServer(of number: UInt64, _ outgoing: inout Outgoing) {
        guard let query = open[number], let server = servers[query.server] else { return }
        outgoing.send(Notice.cancel(id: number).frames, to: server.peer)
    }

    private mutating func close(_ number: UInt64, _ reply: Reply, _ outgoing: inout Outgoing) {
        guard let query = open.removeValue(forKey: number) else { return }
        numbers[query.asker] = nil
        let head = RequestHead(operation: .ask, id: query.asker.request)
        outgoing.send(reply.frames(to: head), to: query.asker.peer)
    }
}
