internal import Contracts
internal import EventBus
internal import Support

extension AppContract {
    /// The contract as an AsyncAPI 3.0.0 document (asyncapi.com/docs/reference/specification/v3.0.0).
    ///
    /// The document has a channel for each message type. It has an operation for each type that a service receives or
    /// sends; the tag of the operation is the service's name. The answers to a query have a separate channel without an
    /// address. The summary of a message is the template of its line. The extension `x-segue-consumers` has the names of
    /// durable consumers by service, and `x-segue-sends` of an operation the messages that the handler sends.
    package var asyncAPI: some Encodable { AsyncAPIDocument(self) }

    /// The name of the channel, the message and the schema of the answers to a query.
    static func answer(to type: MessageType) -> String { "\(type).answer" }
}

/// The document. Each type in it mirrors the object of AsyncAPI with the same name.
private struct AsyncAPIDocument: Encodable {
    let asyncapi = "3.0.0"
    let info: Info
    let defaultContentType = AsyncAPIDocument.contentType
    let servers = ["bus": Server()]
    let channels: [String: Channel]
    let operations: [String: Operation]
    let components: Components
    /// Nil if no service names its durable consumers.
    let consumers: [String: [String]]?

    static let contentType = "application/json"

    enum CodingKeys: String, CodingKey {
        case asyncapi, info, defaultContentType, servers, channels, operations, components
        case consumers = "x-segue-consumers"
    }

    init(_ contract: AppContract) {
        info = Info(title: contract.title, version: contract.version)
        channels = Channel.all(of: contract)
        operations = Operation.all(of: contract)
        components = Components(contract)
        let consumers = contract.parties.compactMapValues { $0.consumers?.sorted() }
        self.consumers = consumers.isEmpty ? nil : consumers
    }

    struct Info: Encodable {
        let title: String
        let version: String
        let description =
            "The messages that each service receives and sends. Written by 'segue contract export'."
    }

    /// The broker.
    struct Server: Encodable {
        let host = "{bus}"
        let `protocol` = "segue"
        let description = "The broker. docs/wire-protocol.md describes its protocol."
        let variables = ["bus": Described(description: "The address of the bus, as in SEGUE_BUS.")]
    }

    /// A parameter of an address, or a variable of a server.
    struct Described: Encodable {
        let description: String
    }

    struct Reference: Encodable {
        let path: String

        enum CodingKeys: String, CodingKey {
            case path = "$ref"
        }

        static func channel(_ name: String) -> Reference { Reference(path: "#/channels/\(name)") }
        static func message(_ name: String, ofChannel channel: String) -> Reference {
            Reference(path: "#/channels/\(channel)/messages/\(name)")
        }
        static func component(_ kind: Components.CodingKeys, _ name: String) -> Reference {
            Reference(path: "#/components/\(kind.stringValue)/\(name)")
        }
    }
}

extension AsyncAPIDocument {
    struct Channel: Encodable {
        /// Nil for the answers to a query.
        let address: String?
        let parameters: [String: Reference]?
        let messages: [String: Reference]

        enum CodingKeys: CodingKey {
            case address, parameters, messages
        }

        static func all(of contract: AppContract) -> [String: Channel] {
            var channels: [String: Channel] = [:]
            for type in contract.types {
                let name = type.description
                channels[name] = Channel(
                    address: "\(name).{partition}", parameters: ["partition": .component(.parameters, "partition")],
                    messages: [name: .component(.messages, name)])
                if type.kind == .query {
                    let answer = AppContract.answer(to: type)
                    channels[answer] = Channel(
                        address: nil, parameters: nil, messages: [answer: .component(.messages, answer)])
                }
            }
            return channels
        }

        /// Writes `null` if there is no address. Without the key, the document would leave the address open.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(address, forKey: .address)
            try container.encodeIfPresent(parameters, forKey: .parameters)
            try container.encode(messages, forKey: .messages)
        }
    }

    struct Operation: Encodable {
        let action: Action
        let channel: Reference
        let messages: [Reference]
        let tags: [Tag]
        /// Nil if the message is not a query.
        let reply: Reply?
        /// Nil if the service does not declare a handler of the message.
        let sends: [String]?

        enum CodingKeys: String, CodingKey {
            case action, channel, messages, tags, reply
            case sends = "x-segue-sends"
        }

        enum Action: String, Encodable {
            case receive, send
        }

        struct Tag: Encodable {
            let name: String
        }

        struct Reply: Encodable {
            let channel: Reference
            let messages: [Reference]

            init(channel name: String) {
                channel = .channel(name)
                messages = [.message(name, ofChannel: name)]
            }
        }

        init(_ action: Action, _ type: MessageType, by party: String, sending sent: Set<MessageType>?) {
            let name = type.description
            self.action = action
            channel = .channel(name)
            messages = [.message(name, ofChannel: name)]
            tags = [Tag(name: party)]
            reply = type.kind == .query ? Reply(channel: AppContract.answer(to: type)) : nil
            sends = sent?.map(\.description).sorted()
        }

        static func all(of contract: AppContract) -> [String: Operation] {
            var operations: [String: Operation] = [:]
            for (name, party) in contract.parties {
                for (action, types) in [(Action.receive, party.receives), (.send, party.sends)] {
                    for type in types {
                        let sent = action == .receive ? party.handlers?[type] : nil
                        operations["\(name).\(action.rawValue).\(type)"] = Operation(
                            action, type, by: name, sending: sent)
                    }
                }
            }
            return operations
        }
    }

    struct Components: Encodable {
        let messages: [String: Message]
        let schemas: [String: JSONSchema]
        let parameters = [
            "partition": Described(
                description: "The hash of the session, 00 to 3f. The messages of one session keep their order.")
        ]
        let messageTraits = ["cloudEvent": MessageTrait()]

        enum CodingKeys: CodingKey {
            case messages, schemas, parameters, messageTraits
        }

        init(_ contract: AppContract) {
            var messages: [String: Message] = [:]
            var schemas: [String: JSONSchema] = [:]
            for (type, message) in contract.messages {
                let name = type.description
                messages[name] = Message(name: name, title: type.name, summary: message.line)
                schemas[name] = message.data ?? .any
                if type.kind == .query {
                    let answer = AppContract.answer(to: type)
                    messages[answer] = Message(name: answer, title: "Answer to \(type.name)", summary: nil)
                    schemas[answer] = message.answer ?? .any
                }
            }
            self.messages = messages
            self.schemas = schemas
        }
    }

    struct Message: Encodable {
        let name: String
        let title: String
        let summary: String?
        let payload: Reference
        let traits = [Reference.component(.messageTraits, "cloudEvent")]

        init(name: String, title: String, summary: String?) {
            self.name = name
            self.title = title
            self.summary = summary
            payload = .component(.schemas, name)
        }
    }

    /// The attributes in the headers of all messages.
    struct MessageTrait: Encodable {
        let contentType = AsyncAPIDocument.contentType
        let headers = Attributes.schema
        let correlationId = CorrelationID()

        struct CorrelationID: Encodable {
            let location = "$message.header#/correlationid"
        }
    }
}
