internal import BusFormat
internal import BusProtocol
internal import EventBus

/// The clients that serve queries, and the open queries. The journal does not record them.
struct QueryDesk {
    /// The maximum number of open queries, and of clients that serve queries. Further ones are refused.
    static let capacity = 10_000
    /// The maximum number of open queries of one user, on a bus with keys.
    private let userCapacity: Int

    /// A client that serves queries, or that has stopped serving and has not answered all its queries.
    private struct Server {
        /// The present connection of the client.
        var peer: [UInt8]
        var types: Set<MessageType> = []
        /// The numbers of the open queries that were given to the client.
        var queries: Set<UInt64> = []

        var isIdle: Bool { types.isEmpty && queries.isEmpty }
    }

    private struct Asker: Hashable {
        let client: Client
        let request: UInt64
    }

    /// A client that has said hello, or the connection of one that has not.
    private enum Client: Hashable {
        case producer(ProducerID)
        case peer([UInt8])
    }

    private struct OpenQuery {
        var asker: Asker
        /// Nil on a bus without keys.
        let user: String?
        let session: String
        let server: ProducerID
        let deadline: ContinuousClock.Instant
        /// The query, to send it again over the next connection of the server. Nil if there is no room for it.
        let notice: Notice?
        /// The answer, while the asker has no connection.
        var answer: Reply?

        var size: Int {
            guard case .query(_, let message, _) = notice else { return 0 }
            return message.header.count + message.data.count
        }
    }

    /// The maximum number of bytes of the messages that are kept to send them again.
    private static let keptSize = 64 * 1024 * 1024

    private var servers: [ProducerID: Server] = [:]
    /// The producers that serve each type. The first one gets the next query.
    private var turns: [MessageType: [ProducerID]] = [:]
    private var open: [UInt64: OpenQuery] = [:]
    private var numbers: [Asker: UInt64] = [:]
    /// The number of open queries of each user, on a bus with keys.
    private var openCounts = UserCounts()
    /// The present connections of the clients that have said hello, and their clients.
    private var (connections, clients): ([ProducerID: [UInt8]], [[UInt8]: ProducerID]) = ([:], [:])
    /// The numbers of bytes of the open queries that are kept, and of ``sent``.
    private var (keptSize, sentSize) = (0, 0)
    /// The answers that were sent since the last call of ``expire(now:into:)``, and since the one before. An asker whose
    /// connection has lost its answer asks again.
    private var (sent, sentBefore): ([Asker: Reply], [Asker: Reply]) = ([:], [:])
    /// The clients to which queries were sent again since the last call of ``expire(now:into:)``, and the askers to which
    /// answers were; those to which more is sent again then, with the number of the last query that may have been lost.
    private var (resent, answeredAgain): (Set<ProducerID>, Set<Asker>) = ([], [])
    private var owed: [ProducerID: UInt64] = [:]
    /// The number of the last query. It begins with a random number, so that an answer to a query of an earlier broker
    /// hardly ever matches a query of this one.
    private var lastNumber = UInt64.random(in: 0...UInt64.max / 2)

    init(userCapacity: Int) {
        self.userCapacity = userCapacity
    }

    var openCount: Int { open.count }

    /// Replaces the types that a client serves.
    mutating func serve(_ request: ServeRequest, peer: [UInt8]) throws(ProtocolError) {
        guard servers[request.producer] != nil || servers.count < Self.capacity else {
            throw ProtocolError(.tooLarge, "\(Self.capacity) clients serve queries already; stop one of them")
        }
        let types = Set(request.types)
        var server = servers[request.producer] ?? Server(peer: peer)
        for type in server.types.subtracting(types) { withdraw(request.producer, from: type) }
        for type in types.subtracting(server.types) { turns[type, default: []].append(request.producer) }
        (server.peer, server.types) = (peer, types)
        servers[request.producer] = server.isIdle ? nil : server
    }

    /// Records the present connection of a client. If it is a new one, sends what may have been lost with the former one:
    /// the queries that the client has not answered, and the answers for it.
    mutating func recordConnection(of producer: ProducerID, from peer: [UInt8], into outgoing: inout Outgoing) {
        guard connections[producer] != peer else { return }
        forgetConnection(of: producer)
        (connections[producer], clients[peer]) = (peer, producer)
        servers[producer]?.peer = peer
        for (number, query) in open where query.asker.client == .peer(peer) {
            let asker = Asker(client: .producer(producer), request: query.asker.request)
            (numbers[query.asker], numbers[asker]) = (nil, number)
            open[number]?.asker = asker
        }
        // A client that alternates between connections would get the same again with each hello.
        if resent.insert(producer).inserted {
            resend(through: lastNumber, to: producer, at: peer, into: &outgoing)
        } else {
            owed[producer] = lastNumber
        }
    }

    /// Sends the queries that a client has not answered, and the answers for it.
    /// - Parameter last: The number of the last query that may have been lost.
    private mutating func resend(
        through last: UInt64, to producer: ProducerID, at peer: [UInt8], into outgoing: inout Outgoing
    ) {
        for number in servers[producer]?.queries.sorted() ?? [] where number <= last {
            if let notice = open[number]?.notice { outgoing.send(notice.frames, to: peer) }
        }
        for (number, query) in open where query.asker.client == .producer(producer) {
            if let answer = query.answer { close(number, with: answer, into: &outgoing) }
        }
    }

    private mutating func forgetConnection(of producer: ProducerID) {
        if let peer = connections.removeValue(forKey: producer) { clients[peer] = nil }
    }

    /// Records that all connections have ended. Answers wait until their askers have said hello again.
    mutating func loseConnections() {
        (connections, clients) = ([:], [:])
    }

    private func client(of peer: [UInt8]) -> Client { clients[peer].map(Client.producer) ?? .peer(peer) }

    /// Passes a query to the next client that serves its type.
    /// - Parameter publisher: The verified name of the asker; nil on a bus without keys.
    mutating func ask(
        _ request: AskRequest, from message: Incoming, _ publisher: String?, id: UInt64, now: ContinuousClock.Instant,
        into outgoing: inout Outgoing
    ) throws(ProtocolError) {
        let asker = Asker(client: client(of: message.peer), request: id)
        // The request is a repetition, and the query is open already.
        guard numbers[asker] == nil else { return }
        if let reply = sent[asker] ?? sentBefore[asker] {
            guard answeredAgain.insert(asker).inserted else { return }
            return outgoing.send(reply.frames(to: RequestHead(operation: .ask, id: id)), to: message.peer)
        }
        let type = try request.query.validated().type
        if let user = message.user, case let count = openCounts[user], count >= userCapacity {
            throw ProtocolError(.unserved, "this key has \(count) open queries already; ask again later")
        }
        guard open.count < Self.capacity else {
            throw ProtocolError(.unserved, "\(Self.capacity) queries are open already; ask again later")
        }
        guard let server = turns[type]?.first, let address = servers[server]?.peer else {
            throw ProtocolError(.unserved, "no process serves \(type)")
        }
        turns[type]?.removeFirst()
        turns[type]?.append(server)
        lastNumber += 1
        numbers[asker] = lastNumber
        servers[server]?.queries.insert(lastNumber)
        let isKept = keptSize < Self.keptSize
        let origin = publisher.map { VerifiedOrigin(session: request.query.subject, publisher: $0) }
        let query = OpenQuery(
            asker: asker, user: message.user, session: request.query.subject, server: server,
            deadline: now + .milliseconds(Int64(request.timeout)),
            notice: isKept ? Notice.query(id: lastNumber, request.query, origin) : nil)
        open[lastNumber] = query
        if let user = message.user { openCounts.add(1, to: user) }
        keptSize += query.size
        outgoing.send(Notice.query(id: lastNumber, request.query, origin).frames, to: address)
    }

    /// Passes an answer to the client that asked, also if the server has stopped serving meanwhile. Does nothing if the
    /// query is no longer open.
    /// - Parameters:
    ///   - peer: The sender of the answer.
    ///   - publisher: Its verified name; nil on a bus without keys.
    /// - Returns: False if the query is open, and was given to another client. A server whose connection is new gets no
    ///   reply until its hello has arrived; it then sends the answer again.
    mutating func answer(
        _ answer: QueryAnswer, from peer: [UInt8], _ publisher: String?, into outgoing: inout Outgoing
    ) -> Bool {
        guard let query = open[answer.query] else { return true }
        guard servers[query.server]?.peer == peer else { return false }
        let reply: Reply =
            switch answer.content {
            case .message(let header, let data):
                .answer(
                    header: header, data: data,
                    publisher.map { VerifiedOrigin(session: query.session, publisher: $0) })
            // Another code would be taken for a refusal of the broker.
            case .failure(let error) where error.code == .unserved: .refused(error)
            case .failure(let error): .refused(ProtocolError(.cancelled, error.message))
            }
        close(answer.query, with: reply, into: &outgoing)
        return true
    }

    /// Cancels a query whose asker no longer waits.
    mutating func cancel(_ id: UInt64, peer: [UInt8], into outgoing: inout Outgoing) {
        guard let number = numbers[Asker(client: client(of: peer), request: id)] else { return }
        tellServer(of: number, into: &outgoing)
        _ = remove(number)
    }

    /// Cancels the queries of users that are no longer accepted. They get no answer.
    mutating func cancelQueries(ofUsersBeyond accepted: [String: Publisher], into outgoing: inout Outgoing) {
        for (number, query) in open where query.user.map({ accepted[$0] == nil }) ?? false {
            tellServer(of: number, into: &outgoing)
            _ = remove(number)
        }
    }

    /// Called once a second.
    mutating func expire(now: ContinuousClock.Instant, into outgoing: inout Outgoing) {
        (sent, sentBefore, sentSize) = ([:], sent, 0)
        (resent, answeredAgain) = ([], [])
        for (producer, last) in owed {
            if let peer = connections[producer] { resend(through: last, to: producer, at: peer, into: &outgoing) }
        }
        owed = [:]
        for (number, query) in open where query.deadline <= now {
            tellServer(of: number, into: &outgoing)
            close(number, with: .refused(ProtocolError(.deadline, "no answer came in time")), into: &outgoing)
            _ = remove(number)
        }
    }

    /// Removes a client that has ended, and refuses the queries that the client has not answered.
    mutating func leave(_ producer: ProducerID, into outgoing: inout Outgoing) {
        forgetConnection(of: producer)
        guard let server = servers.removeValue(forKey: producer) else { return }
        for type in server.types {
            withdraw(producer, from: type)
        }
        for number in server.queries {
            close(
                number, with: .refused(ProtocolError(.unserved, "the process that served the query has ended")),
                into: &outgoing)
        }
    }

    private mutating func withdraw(_ producer: ProducerID, from type: MessageType) {
        turns[type]?.removeAll { $0 == producer }
        if turns[type]?.isEmpty == true { turns[type] = nil }
    }

    private func tellServer(of number: UInt64, into outgoing: inout Outgoing) {
        guard let query = open[number], let server = servers[query.server] else { return }
        outgoing.send(Notice.cancel(id: number).frames, to: server.peer)
    }

    /// Sends a reply to the asker of a query. If the asker has no connection at the moment, the reply waits.
    private mutating func close(_ number: UInt64, with reply: Reply, into outgoing: inout Outgoing) {
        guard let query = open[number] else { return }
        let peer: [UInt8]? =
            switch query.asker.client {
            case .producer(let producer): connections[producer]
            case .peer(let peer): peer
            }
        guard let peer else {
            servers[query.server]?.queries.remove(number)
            if query.answer == nil { open[number]?.answer = reply }
            return
        }
        _ = remove(number)
        let head = RequestHead(operation: .ask, id: query.asker.request)
        outgoing.send(reply.frames(to: head), to: peer)
        guard case .producer = query.asker.client, sentSize < Self.keptSize else { return }
        sent[query.asker] = reply
        if case .answer(let header, let data, _) = reply { sentSize += header.count + data.count }
    }

    private mutating func remove(_ number: UInt64) -> OpenQuery? {
        guard let query = open.removeValue(forKey: number) else { return nil }
        numbers[query.asker] = nil
        if let user = query.user { openCounts.add(-1, to: user) }
        keptSize -= query.size
        servers[query.server]?.queries.remove(number)
        if servers[query.server]?.isIdle == true { servers[query.server] = nil }
        return query
    }
}
