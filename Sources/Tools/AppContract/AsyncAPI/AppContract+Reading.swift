internal import Contracts
internal import EventBus
package import Foundation
internal import Navigation

extension AppContract {
    /// Why a file is no contract.
    package struct Unreadable: Error, Hashable, CustomStringConvertible {
        /// One line.
        package let description: String
    }

    /// Reads what ``asyncAPI`` writes.
    ///
    /// - Throws: ``Unreadable``.
    package init(parsing json: Data) throws(Unreadable) {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: json)
        } catch {
            throw Unreadable(description: "it is not JSON")
        }
        guard let version = document["asyncapi"]?.stringValue, version.hasPrefix("3.") else {
            throw Unreadable(description: "it is no AsyncAPI 3 document")
        }
        self.init(
            title: document.value(at: "info.title")?.stringValue ?? "",
            version: document.value(at: "info.version")?.stringValue ?? "")
        try readMessages(document)
        try readOperations(document)
    }

    private mutating func readMessages(_ document: JSONValue) throws(Unreadable) {
        let schemas = document["components"]?["schemas"]?.objectValue ?? [:]
        for (name, channel) in document["channels"]?.objectValue ?? [:] {
            // The channel of a query's answers; it has no address.
            if channel["address"]?.isNull == true { continue }
            guard let type = MessageType(name) else {
                throw Unreadable(
                    description: "channel '\(name)' is not named after a message such as event.LaunchFinished")
            }
            messages[type] = MessageContract(
                type: type, data: Self.schema(schemas[name]),
                answer: type.kind == .query ? Self.schema(schemas[Self.answer(to: type)]) : nil)
        }
    }

    /// One that allows anything says no more than none.
    private static func schema(_ json: JSONValue?) -> JSONSchema? {
        json.flatMap { $0 == [:] ? nil : JSONSchema($0) }
    }

    private mutating func readOperations(_ document: JSONValue) throws(Unreadable) {
        for (id, operation) in document["operations"]?.objectValue ?? [:] {
            let channel = operation["channel"]?["$ref"]?.stringValue?.split(separator: "/").last
            guard let type = channel.flatMap({ MessageType(String($0)) }), messages[type] != nil,
                let party = operation["tags"]?[0]?["name"]?.stringValue
            else {
                throw Unreadable(
                    description: "operation '\(id)' has no channel that there is, or no service as its tag")
            }
            switch operation["action"]?.stringValue {
            case "receive": parties[party, default: Party()].receives.insert(type)
            case "send": parties[party, default: Party()].sends.insert(type)
            default: throw Unreadable(description: "operation '\(id)' neither sends nor receives")
            }
        }
    }
}
