internal import Contracts
internal import EventBus
package import Foundation
internal import Support

extension AppContract {
    /// The error of a file that is not a contract, or of a contract with invalid names.
    package struct Unreadable: Error, Hashable, CustomStringConvertible {
        /// The reason, on one line.
        package let description: String
    }

    /// Reads a contract in the form of ``asyncAPI``.
    ///
    /// - Throws: ``Unreadable`` if the data does not have this form, or if a name is invalid.
    package init(parsing json: Data) throws(Unreadable) {
        let document = try ParsedDocument(parsing: json)
        let messages = try document.messageContracts()
        self.init(
            title: document.info?.title ?? "", version: document.info?.version ?? "", messages: messages,
            parties: try document.parties(sending: messages))
    }
}

/// The parts of an AsyncAPI document that make a contract. A document may lack any of them.
private struct ParsedDocument: Decodable {
    let info: Info?
    let channels: [String: Channel]?
    let operations: [String: Operation]?
    let components: Components?
    let consumers: [String: [String]]?

    enum CodingKeys: String, CodingKey {
        case info, channels, operations, components
        case consumers = "x-segue-consumers"
    }

    struct Info: Decodable {
        let title: String?
        let version: String?
    }

    struct Channel: Decodable {
        /// True if the address is `null`, as in a channel for the answers to a query.
        let hasNullAddress: Bool

        enum CodingKeys: CodingKey {
            case address
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            hasNullAddress = try container.contains(.address) && container.decodeNil(forKey: .address)
        }
    }

    struct Operation: Decodable {
        let action: String?
        let channel: Reference?
        let tags: [Tag]?
        let sends: [String]?

        enum CodingKeys: String, CodingKey {
            case action, channel, tags
            case sends = "x-segue-sends"
        }

        struct Reference: Decodable {
            let path: String?

            enum CodingKeys: String, CodingKey {
                case path = "$ref"
            }
        }

        struct Tag: Decodable {
            let name: String?
        }
    }

    struct Components: Decodable {
        let messages: [String: Message]?
        let schemas: [String: JSONSchema]?

        struct Message: Decodable {
            let summary: String?
        }
    }
}

extension ParsedDocument {
    init(parsing json: Data) throws(AppContract.Unreadable) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: json)
        } catch {
            throw AppContract.Unreadable(description: "the text is not JSON")
        }
        guard let version = value["asyncapi"]?.stringValue, version.begins(with: "3.") else {
            throw AppContract.Unreadable(description: "the JSON is not an AsyncAPI 3 document")
        }
        do {
            self = try value.decode(ParsedDocument.self)
        } catch {
            let reason = (error as? DecodingError)?.summary ?? "\(error)"
            throw AppContract.Unreadable(description: "the AsyncAPI document is invalid: \(reason)")
        }
    }

    func messageContracts() throws(AppContract.Unreadable) -> [MessageType: MessageContract] {
        var contracts: [MessageType: MessageContract] = [:]
        for (name, channel) in channels ?? [:] where !channel.hasNullAddress {
            guard let type = MessageType(name) else {
                throw AppContract.Unreadable(
                    description: "channel '\(name)' is not named after a message such as event.LaunchFinished")
            }
            contracts[type] = MessageContract(
                type: type, data: schema(named: name),
                answer: type.kind == .query ? schema(named: AppContract.answer(to: type)) : nil,
                line: components?.messages?[name]?.summary)
        }
        return contracts
    }

    /// The schema. Nil if there is none, or if the schema allows any value.
    private func schema(named name: String) -> JSONSchema? {
        components?.schemas?[name].flatMap { $0 == .any ? nil : $0 }
    }

    func parties(
        sending messages: [MessageType: MessageContract]
    ) throws(AppContract.Unreadable) -> [String: AppContract.Party] {
        var parties: [String: AppContract.Party] = [:]
        for (id, operation) in operations ?? [:] {
            guard let type = operation.type, messages[type] != nil, let party = operation.tags?.first?.name else {
                throw AppContract.Unreadable(
                    description: "operation '\(id)' needs the channel of a known message and a service as its tag")
            }
            try AppContract.check(party, consumers: [])
            switch operation.action {
            case "receive":
                parties[party, default: AppContract.Party()].receives.insert(type)
                guard let sent = operation.sends else { break }
                let types = sent.compactMap { MessageType($0) }
                guard types.count == sent.count else {
                    throw AppContract.Unreadable(
                        description:
                            "'\(Operation.CodingKeys.sends.stringValue)' of operation '\(id)' needs the names of "
                            + "messages such as event.LaunchFinished")
                }
                let known = parties[party]?.handlers ?? [:]
                parties[party]?.handlers = known.merging([type: Set(types)]) { $0.union($1) }
            case "send": parties[party, default: AppContract.Party()].sends.insert(type)
            default:
                throw AppContract.Unreadable(description: "operation '\(id)' needs the action send or receive")
            }
        }
        for (party, names) in consumers ?? [:] {
            guard parties[party] != nil else {
                throw AppContract.Unreadable(
                    description: "'\(CodingKeys.consumers.stringValue)' needs a list of names for each service")
            }
            try AppContract.check(party, consumers: names)
            parties[party]?.consumers = Set(names)
        }
        return parties
    }
}

extension ParsedDocument.Operation {
    /// The type of the message, which is the name of the channel.
    fileprivate var type: MessageType? {
        channel?.path?.split(scalar: "/").last.flatMap { MessageType(String($0)) }
    }
}
