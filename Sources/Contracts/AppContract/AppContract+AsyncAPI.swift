internal import Contracts
internal import EventBus
package import Foundation
internal import Navigation
package import Support

extension AppContract {
    /// The contract as an AsyncAPI 3.0.0 document (asyncapi.com/docs/reference/specification/v3.0.0).
    ///
    /// The document has a channel for each message type. It has an operation for each type that a service receives or
    /// sends; the tag of the operation is the service's name. The answers to a query have a separate channel without an
    /// address. The summary of a message is the template of its line. The extension `x-segue-consumers` has the names of
    /// durable consumers by service.
    package var asyncAPI: JSONValue {
        var document: [String: JSONValue] = [
            "asyncapi": "3.0.0",
            "info": [
                "title": .string(title), "version": .string(version),
                "description": "The messages that each service receives and sends. Written by 'segue contract export'.",
            ],
            "defaultContentType": "application/json",
            "servers": ["bus": Self.bus],
            "channels": .object(channels),
            "operations": .object(operations),
            "components": [
                "messages": .object(messageObjects), "schemas": .object(schemas),
                "parameters": ["partition": Self.partition], "messageTraits": ["cloudEvent": Self.cloudEvent],
            ],
        ]
        let consumers = parties.compactMapValues { party in
            party.consumers.map { JSONValue.array($0.sorted().map { .string($0) }) }
        }
        if !consumers.isEmpty { document[Self.consumersKey] = .object(consumers) }
        return .object(document)
    }

    private static let consumersKey = "x-segue-consumers"

    /// The name of the channel, the message and the schema of the answers to a query.
    static func answer(to type: MessageType) -> String { "\(type).answer" }

    static func reference(_ parts: String...) -> JSONValue {
        ["$ref": .string("#/" + parts.joined(separator: "/"))]
    }

    private var channels: [String: JSONValue] {
        var channels: [String: JSONValue] = [:]
        for type in types {
            channels[type.description] = [
                "address": .string("\(type).{partition}"),
                "parameters": ["partition": Self.reference("components", "parameters", "partition")],
                "messages": Self.messages("\(type)"),
            ]
            if type.kind == .query {
                let answer = Self.answer(to: type)
                channels[answer] = ["address": .null, "messages": Self.messages(answer)]
            }
        }
        return channels
    }

    private static func messages(_ name: String) -> JSONValue {
        .object([name: reference("components", "messages", name)])
    }

    private var operations: [String: JSONValue] {
        var operations: [String: JSONValue] = [:]
        for (name, party) in parties {
            for (action, types) in [("receive", party.receives), ("send", party.sends)] {
                for type in types { operations["\(name).\(action).\(type)"] = Self.operation(name, action, type) }
            }
        }
        return operations
    }

    private static func operation(_ party: String, _ action: String, _ type: MessageType) -> JSONValue {
        func place(_ name: String) -> [String: JSONValue] {
            [
                "channel": reference("channels", name),
                "messages": .array([reference("channels", name, "messages", name)]),
            ]
        }
        var operation = place("\(type)")
        operation["action"] = .string(action)
        operation["tags"] = [["name": .string(party)]]
        if type.kind == .query { operation["reply"] = .object(place(answer(to: type))) }
        return .object(operation)
    }

    private var messageObjects: [String: JSONValue] {
        var objects: [String: JSONValue] = [:]
        for type in types {
            objects["\(type)"] = Self.message("\(type)", title: type.name, line: messages[type]?.line)
            if type.kind == .query {
                objects[Self.answer(to: type)] = Self.message(Self.answer(to: type), title: "Answer to \(type.name)")
            }
        }
        return objects
    }

    private static func message(_ name: String, title: String, line: String? = nil) -> JSONValue {
        var message: [String: JSONValue] = [
            "name": .string(name), "title": .string(title), "payload": reference("components", "schemas", name),
            "traits": .array([reference("components", "messageTraits", "cloudEvent")]),
        ]
        if let line { message["summary"] = .string(line) }
        return .object(message)
    }

    private var schemas: [String: JSONValue] {
        var schemas: [String: JSONValue] = [:]
        for (type, message) in messages {
            schemas["\(type)"] = (message.data ?? .any).json
            if type.kind == .query { schemas[Self.answer(to: type)] = (message.answer ?? .any).json }
        }
        return schemas
    }
}

extension AppContract {
    /// The server object of the broker.
    static let bus: JSONValue = [
        "host": "{bus}", "protocol": "segue",
        "description": "The broker. docs/wire-protocol.md describes its protocol.",
        "variables": ["bus": ["description": "The address of the bus, as in SEGUE_BUS."]],
    ]

    static let partition: JSONValue = [
        "description": "The hash of the session, 00 to 3f. The messages of one session keep their order."
    ]

    /// The message trait of all messages: the attributes in their headers.
    static let cloudEvent: JSONValue = [
        "contentType": "application/json",
        "headers": Attributes.schema.json,
        "correlationId": ["location": "$message.header#/correlationid"],
    ]
}

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
        let document: JSONValue
        do {
            document = try JSONValue(parsing: json)
        } catch {
            throw Unreadable(description: "the text is not JSON")
        }
        guard let version = document["asyncapi"]?.stringValue, version.begins(with: "3.") else {
            throw Unreadable(description: "the JSON is not an AsyncAPI 3 document")
        }
        let messages = try Self.messages(of: document)
        self.init(
            title: document.value(at: "info.title")?.stringValue ?? "",
            version: document.value(at: "info.version")?.stringValue ?? "", messages: messages,
            parties: try Self.parties(of: document, sending: messages))
    }

    private static func messages(of document: JSONValue) throws(Unreadable) -> [MessageType: MessageContract] {
        var messages: [MessageType: MessageContract] = [:]
        let schemas = document["components"]?["schemas"]?.objectValue ?? [:]
        let objects = document["components"]?["messages"]?.objectValue ?? [:]
        for (name, channel) in document["channels"]?.objectValue ?? [:] {
            // A channel without an address is for the answers to a query.
            if channel["address"]?.isNull == true { continue }
            guard let type = MessageType(name) else {
                throw Unreadable(
                    description: "channel '\(name)' is not named after a message such as event.LaunchFinished")
            }
            messages[type] = MessageContract(
                type: type, data: schema(schemas[name]),
                answer: type.kind == .query ? schema(schemas[answer(to: type)]) : nil,
                line: objects[name]?["summary"]?.stringValue)
        }
        return messages
    }

    /// The schema. Nil if there is none, or if the schema allows any value.
    private static func schema(_ json: JSONValue?) -> JSONSchema? {
        json.flatMap { $0 == [:] ? nil : JSONSchema($0) }
    }

    private static func parties(
        of document: JSONValue, sending messages: [MessageType: MessageContract]
    ) throws(Unreadable) -> [String: Party] {
        var parties: [String: Party] = [:]
        for (id, operation) in document["operations"]?.objectValue ?? [:] {
            let channel = operation["channel"]?["$ref"]?.stringValue?.split(scalar: "/").last
            guard let type = channel.flatMap({ MessageType(String($0)) }), messages[type] != nil,
                let party = operation["tags"]?[0]?["name"]?.stringValue
            else {
                throw Unreadable(
                    description: "operation '\(id)' needs the channel of a known message and a service as its tag")
            }
            try check(party, consumers: [])
            switch operation["action"]?.stringValue {
            case "receive": parties[party, default: Party()].receives.insert(type)
            case "send": parties[party, default: Party()].sends.insert(type)
            default: throw Unreadable(description: "operation '\(id)' needs the action send or receive")
            }
        }
        for (party, consumers) in document[consumersKey]?.objectValue ?? [:] {
            guard let names = consumers.arrayValue?.compactMap(\.stringValue), parties[party] != nil else {
                throw Unreadable(description: "'\(consumersKey)' needs a list of names for each service")
            }
            try check(party, consumers: names)
            parties[party]?.consumers = Set(names)
        }
        return parties
    }
}
