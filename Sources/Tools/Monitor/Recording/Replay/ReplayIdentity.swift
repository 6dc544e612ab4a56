internal import EventBus
internal import Foundation
internal import Navigation

/// Under which ids a story is told again.
package enum ReplayIdentity: Hashable, Sendable {
    /// Under its own, at its own times: coordinators that begin anew reach the very same states.
    case same
    /// Under its own behind this text, and at the time of now: another story beside the recorded one.
    ///
    /// Ids that derive from one another still do, and each tells whence it comes.
    case new(prefix: String)

    /// - Parameter isKnown: whether a text is the id of a recorded message; data may name one.
    func apply(to message: inout Envelope, now: Date, isKnown: (String) -> Bool) {
        guard case .new(let prefix) = self else { return }
        message.attributes.id = prefix + message.id
        message.attributes.correlationID = prefix + message.attributes.correlationID
        message.attributes.causationID = message.attributes.causationID.map { prefix + $0 }
        message.attributes.time = now
        guard let json = try? JSONValue(parsing: message.data) else { return }
        let data = json.mapStrings { isKnown($0) ? prefix + $0 : $0 }
        // What names no message stays as it was written.
        if data != json { message.data = Data(data.description.utf8) }
    }
}

extension JSONValue {
    fileprivate func mapStrings(_ map: (String) -> String) -> JSONValue {
        switch self {
        case .string(let text): .string(map(text))
        case .array(let elements): .array(elements.map { $0.mapStrings(map) })
        case .object(let members): .object(members.mapValues { $0.mapStrings(map) })
        case .null, .bool, .integer, .number: self
        }
    }
}
