internal import Foundation

extension Attributes: Codable {
    enum CodingKeys: String, CodingKey {
        case specVersion = "specversion"
        case id, source, type, subject, time
        case correlationID = "correlationid"
        case causationID = "causationid"
        case traceparent
        case expiryTime = "expirytime"
        case platform, device, instance, key, recipient
    }

    /// - Throws: `DecodingError` unless `id`, `source`, `type` and CloudEvents version 1.0 are there.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard try container.decode(String.self, forKey: .specVersion) == "1.0" else {
            throw DecodingError.dataCorruptedError(
                forKey: .specVersion, in: container, debugDescription: "only CloudEvents 1.0 is understood")
        }
        let id = try container.decode(String.self, forKey: .id)
        self.init(
            type: try container.decode(MessageType.self, forKey: .type),
            source: try container.decode(String.self, forKey: .source),
            subject: try container.decodeIfPresent(String.self, forKey: .subject) ?? Session.default, id: id,
            time: try container.timestamp(.time) ?? Date(),
            correlationID: try container.decodeIfPresent(String.self, forKey: .correlationID) ?? id,
            traceparent: try container.decodeIfPresent(String.self, forKey: .traceparent))
        causationID = try container.decodeIfPresent(String.self, forKey: .causationID)
        expiryTime = try container.timestamp(.expiryTime)
        platform = try container.decodeIfPresent(String.self, forKey: .platform)
        device = try container.decodeIfPresent(String.self, forKey: .device)
        instance = try container.decodeIfPresent(String.self, forKey: .instance)
        key = try container.decodeIfPresent(String.self, forKey: .key)
        recipient = try container.decodeIfPresent(String.self, forKey: .recipient)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("1.0", forKey: .specVersion)
        try container.encode(id, forKey: .id)
        try container.encode(source, forKey: .source)
        try container.encode(type, forKey: .type)
        try container.encode(subject, forKey: .subject)
        try container.encode(Timestamp.text(of: time), forKey: .time)
        try container.encode(correlationID, forKey: .correlationID)
        try container.encodeIfPresent(causationID, forKey: .causationID)
        try container.encodeIfPresent(traceparent, forKey: .traceparent)
        try container.encodeIfPresent(expiryTime.map(Timestamp.text(of:)), forKey: .expiryTime)
        try container.encodeIfPresent(platform, forKey: .platform)
        try container.encodeIfPresent(device, forKey: .device)
        try container.encodeIfPresent(instance, forKey: .instance)
        try container.encodeIfPresent(key, forKey: .key)
        try container.encodeIfPresent(recipient, forKey: .recipient)
    }
}

extension KeyedDecodingContainer<Attributes.CodingKeys> {
    fileprivate func timestamp(_ key: Key) throws -> Date? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let date = Timestamp.date(from: text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "'\(text)' is not an RFC 3339 time")
        }
        return date
    }
}
