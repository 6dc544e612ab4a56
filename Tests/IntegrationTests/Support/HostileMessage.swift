import Contracts
import EventBus
import Foundation
import HostileValues
import Navigation
import Support

/// A message with data that no client of this version publishes.
struct HostileMessage {
    let type: MessageType
    let json: String
    let session: String
    /// The key of a document. Nil for other messages.
    var key: String?

    var attributes: Attributes {
        var attributes = Attributes(type: type, source: "stranger/1", subject: session)
        (attributes.platform, attributes.key) = ("ios", key)
        return attributes
    }

    var envelope: Envelope { Envelope(attributes: attributes, data: Data(json.utf8)) }
}

/// Messages of every type on a bus, made from the contracts that the services publish. So a new message is covered as
/// soon as a service declares it.
struct HostileMessages {
    /// The messages, in the order in which they are sent.
    let messages: [HostileMessage]
    /// The queries with hostile data.
    let queries: [HostileMessage]

    /// Documents that all sessions share. They are published in the session `default`, with other keys.
    private static let shared: Set<MessageType> = [
        Document.Presence.type, Document.ServiceContract.type, Document.Flow.type,
    ]

    /// - Parameters:
    ///   - schemas: The schemas of the messages' data. The valid message is the last one in `known`, or else made from
    ///     its schema.
    ///   - shown: The session that devices show. It receives each document, too.
    init(_ schemas: [MessageType: JSONSchema], known: [Envelope], shown: String, _ extent: HostileExtent) {
        var (messages, queries): ([HostileMessage], [HostileMessage]) = ([], [])
        for (type, schema) in schemas.sorted(by: { $0.key.description < $1.key.description }) {
            let last = known.last { $0.type == type && !$0.isTombstone }
            let valid = last.flatMap { try? JSONValue(parsing: $0.data) } ?? schema.sample
            for text in valid.hostileTexts(extent) {
                switch type.kind {
                case .query: queries.append(HostileMessage(type: type, json: text.json, session: Session.default))
                case .document where Self.shared.contains(type):
                    messages.append(
                        HostileMessage(type: type, json: text.json, session: Session.default, key: "hostile"))
                case .document:
                    // The document is there before the first message of its session, as after a restart.
                    let (session, key) = ("hostile-\(messages.count)", last?.attributes.key)
                    messages +=
                        [session, shown].map {
                            HostileMessage(type: type, json: text.json, session: $0, key: key)
                        } + [Self.launch(of: session)]
                case .command, .event, .error:
                    // A session begins with a launch. It may have ended meanwhile.
                    let session = "hostile-\(type.name)"
                    messages += [
                        Self.launch(of: session), HostileMessage(type: type, json: text.json, session: session),
                    ]
                }
            }
        }
        (self.messages, self.queries) = (messages, queries)
    }

    private static func launch(of session: String) -> HostileMessage {
        HostileMessage(type: DomainEvent.LaunchFinished.type, json: "{}", session: session)
    }
}
