package import EventBus

/// The subjects that a client of the bus may use, as the permissions of its user at a NATS server.
///
/// The server judges a batch by its subject, which names the type of the messages if all have the same. It cannot look
/// into a batch of several types, so the right to send two types of a kind includes batches of any types of this kind,
/// and the right to send two kinds includes batches of any messages.
package struct ServiceRights: Hashable, Sendable {
    /// The subjects to which the client may publish, in alphabetical order. Patterns of NATS.
    package let publish: [String]
    /// The subjects to which the client may subscribe, in alphabetical order.
    package let subscribe: [String]

    private init(publish: Set<String>, subscribe: Set<String>) {
        self.publish = publish.sorted()
        self.subscribe = subscribe.sorted()
    }

    /// The rights of a service.
    /// - Parameters:
    ///   - sends: The types of the messages that it sends. Those with which every process announces itself are added.
    ///   - serves: The types of the queries that it answers.
    ///   - consumers: The durable consumers that it runs.
    ///   - reports: The types that every process sends as transient messages only, each alone.
    package init(
        sends: some Sequence<MessageType>, serves: some Sequence<MessageType>, consumers: some Sequence<String>,
        announcements: [MessageType], reports: [MessageType], namespace: String
    ) {
        let queries = sends.filter { $0.kind == .query }
        let types = Set(sends).subtracting(queries).union(announcements)
        let tokens = Self.tokens(of: types)
        let transient = tokens + reports.flatMap { Self.tokens(of: [$0]) }
        let batches = tokens.map { "m.-.-.\($0)" } + transient.map { "t.\($0)" }
        let records = consumers.flatMap { consumer -> [String] in
            let name = SubjectToken.encode(consumer)
            return (tokens + ["-.-.-.-"]).map { "m.\(name).*.\($0)" }
                + ["k.g.\(name)", "k.f.\(name).*", "k.p.\(name).*"]
        }
        let asked = queries.map { "q.who.\(SubjectToken.encode($0.name))" }
        let served = serves.map { "q.who.\(SubjectToken.encode($0.name))" }
        // Askers and servers of queries ping each other.
        let questions = asked.isEmpty && served.isEmpty ? [] : asked + ["q.to.*"]
        self.init(
            publish: Set((batches + records + questions + ["k.l.*", "hb"]).map { "\(namespace).\($0)" })
                .union(Self.reading(namespace)),
            subscribe: Set((["t.>", "q.to.*"] + served).map { "\(namespace).\($0)" })
                .union([Self.inboxes]))
    }

    /// The rights of a person's tools: everything on the bus, but no change of its streams.
    package static func tools(namespace: String) -> ServiceRights {
        ServiceRights(
            publish: reading(namespace).union(["\(namespace).>"]), subscribe: [inboxes, "\(namespace).>"])
    }

    /// The rights of a person's tool that reads everything and asks all processes for their metrics. A process cannot
    /// announce itself with them, because a server could not limit it to its own presence, lease and heartbeats.
    /// - Parameter asks: The type of the request for metrics, which is a transient message.
    package static func monitor(asks: MessageType, namespace: String) -> ServiceRights {
        ServiceRights(
            publish: reading(namespace).subtracting([inboxes])
                .union(tokens(of: [asks]).map { "\(namespace).t.\($0)" } + [acknowledgements]),
            subscribe: [inboxes, "\(namespace).>"])
    }

    /// The rights of the steward: everything on the bus, and its streams.
    package static func steward(namespace: String) -> ServiceRights {
        let streams = StreamNames(namespace).all.flatMap { name in
            ["STREAM.CREATE", "STREAM.UPDATE", "STREAM.PURGE"].map { "$JS.API.\($0).\(name)" }
        }
        let tools = tools(namespace: namespace)
        return ServiceRights(
            publish: Set(tools.publish).union(streams).union(["$JS.API.INFO", "$SYS.REQ.ACCOUNT.PING.STATZ"]),
            subscribe: Set(tools.subscribe))
    }

    /// Replies come to inboxes, and are sent to those of others.
    private static let inboxes = "_INBOX.>"
    /// The part of the inboxes to which a client publishes to itself, to know that the server has its subscriptions.
    private static let acknowledgements = "_INBOX.*.a.*"

    /// The requests with which every client reads the streams.
    private static func reading(_ namespace: String) -> Set<String> {
        let requests = StreamNames(namespace).all.flatMap { name in
            [
                "STREAM.INFO.\(name)", "STREAM.MSG.GET.\(name)", "DIRECT.GET.\(name)", "DIRECT.GET.\(name).>",
                "CONSUMER.CREATE.\(name).>", "CONSUMER.MSG.NEXT.\(name).*", "CONSUMER.INFO.\(name).*",
                "CONSUMER.DELETE.\(name).*",
            ]
        }
        return Set(requests.map { "$JS.API.\($0)" } + ["$SYS.REQ.USER.INFO", inboxes])
    }

    /// The tokens of the batches that contain only messages of some types.
    private static func tokens(of types: Set<MessageType>) -> [String] {
        let kinds = Dictionary(grouping: types, by: \.kind)
        return types.map { "\($0.kind.rawValue).\(SubjectToken.encode($0.name)).*.*" }
            + kinds.filter { $0.value.count > 1 }.keys.map { "\($0.rawValue).+.*.*" }
            + (kinds.count > 1 ? ["+.+.*.*"] : [])
    }
}
