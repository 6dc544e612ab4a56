internal import Contracts
internal import EventBus
package import Navigation

extension AppContract {
    /// The contract as an AsyncAPI 3.0.0 document (asyncapi.com/docs/reference/specification/v3.0.0).
    ///
    /// A channel for each type of message, an operation for each that a service receives or sends, tagged with the service's
    /// name. Queries are answered on a channel of their own, whose address is not known beforehand.
    package var asyncAPI: JSONValue {
        [
            "asyncapi": "3.0.0",
            "info": [
                "title": .string(title), "version": .string(version),
                "description": "What each service receives and sends. Written by 'segue contract export'.",
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
    }

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
            objects["\(type)"] = Self.message("\(type)", title: type.name)
            if type.kind == .query {
                objects[Self.answer(to: type)] = Self.message(Self.answer(to: type), title: "Answer to \(type.name)")
            }
        }
        return objects
    }

    private static func message(_ name: String, title: String) -> JSONValue {
        [
            "name": .string(name), "title": .string(title), "payload": reference("components", "schemas", name),
            "traits": .array([reference("components", "messageTraits", "cloudEvent")]),
        ]
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
