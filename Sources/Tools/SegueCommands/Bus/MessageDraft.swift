internal import ArgumentParser
internal import EventBus
internal import Foundation
internal import Navigation

/// A message that is to be sent, as far as whoever wrote it says what it is.
struct MessageDraft: Sendable {
    let type: MessageType
    /// JSON, on one line.
    var data: Data
    /// What it says of itself by the names of CloudEvents; the rest is as the command line has it.
    private var attributes: [String: String] = [:]

    init(_ type: MessageType, data: Data) {
        self.type = type
        self.data = data
    }

    /// - Parameter line: an object with `type` and `data`, as `segue monitor --json` prints messages.
    /// - Throws: ``CommandError``.
    init(line: String) throws(CommandError) {
        guard let event = try? JSONValue(parsing: Data(line.utf8)), case .object(let members) = event else {
            throw CommandError(
                code: "malformed-line", "it is no JSON object",
                recovery: #"write it like {"type": "event.LaunchFinished", "data": {}}"#, status: .dataError)
        }
        guard let name = members["type"]?.stringValue else {
            throw CommandError(
                code: "malformed-line", "it does not say its type",
                recovery: "write \"type\": \"command.NAME\", or name the type before --stdin", status: .dataError)
        }
        let type: MessageType
        do {
            type = try MessageSpelling.type(name)
        } catch {
            throw CommandError(code: "malformed-line", error.message, status: .dataError)
        }
        let data = members["data"] ?? [:]
        guard data.objectValue != nil else {
            throw CommandError(
                code: "malformed-line", "its data is no JSON object", recovery: "write \"data\": {…}",
                status: .dataError)
        }
        self.init(type, data: Data(data.description.utf8))
        attributes = members.compactMapValues(\.stringValue)
    }

    func attributes(_ arguments: MessageArguments, on bus: any EventBus) -> Attributes {
        var attributes = Attributes(
            type: type, source: bus.source, subject: self.attributes["subject"] ?? arguments.subject)
        attributes.platform = self.attributes["platform"] ?? arguments.platform
        attributes.device = self.attributes["device"] ?? arguments.device
        attributes.instance = self.attributes["instance"] ?? arguments.instance
        attributes.key = type.kind == .document ? self.attributes["key"] ?? arguments.key : nil
        if type.kind == .command {
            switch arguments.lifetime {
            case .unlimited: break
            case .seconds(let seconds): attributes.expire(after: .seconds(seconds))
            case nil: attributes.expireAsUsual()
            }
        }
        return attributes
    }
}
