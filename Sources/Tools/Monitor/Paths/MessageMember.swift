internal import EventBus
internal import Navigation

/// What a message has: the attributes by their names on the wire, what its type is made of, its data and its position.
package enum MessageMember: String, CaseIterable, Sendable {
    case type, kind, name, source, subject, id, time, key, platform, device, instance, correlationid, causationid
    case traceparent, expirytime, recipient, data, position

    /// Whether it is a text, so that no path leads further.
    var isText: Bool { self != .data && self != .position }
    var isTime: Bool { self == .time || self == .expirytime }

    /// `null` for what the message does not have. The data is read elsewhere.
    func value(of message: Envelope) -> JSONValue {
        if self == .position { return position(of: message) }
        return text(of: message).map(JSONValue.string) ?? .null
    }

    private func text(of message: Envelope) -> String? {
        let attributes = message.attributes
        return switch self {
        case .type: attributes.type.description
        case .kind: attributes.type.kind.rawValue
        case .name: attributes.type.name
        case .source: attributes.source
        case .subject: attributes.subject
        case .id: attributes.id
        case .time: Timestamp.text(of: attributes.time)
        case .key: attributes.key
        case .platform: attributes.platform
        case .device: attributes.device
        case .instance: attributes.instance
        case .correlationid: attributes.correlationID
        case .causationid: attributes.causationID
        case .traceparent: attributes.traceparent
        case .expirytime: attributes.expiryTime.map(Timestamp.text(of:))
        case .recipient: attributes.recipient
        case .data, .position: nil
        }
    }

    /// As ``CloudEventFormat`` writes it.
    private func position(of message: Envelope) -> JSONValue {
        guard let position = message.position else { return .null }
        let offset = Int(exactly: position.offset).map(JSONValue.integer) ?? .number(Double(position.offset))
        return ["epoch": .string(String(position.epoch, radix: 16)), "offset": offset]
    }
}
