internal import Foundation

/// What a header in the plain form says, as it is read.
struct HeaderFields {
    private var isVersion1 = false
    private var id: String?
    private var source: String?
    private var type: MessageType?
    private var subject: String?
    private var time: Date?
    private var correlationID: String?
    private var causationID: String?
    private var traceparent: String?
    private var expiryTime: Date?
    private var platform: String?
    private var device: String?
    private var instance: String?
    private var key: String?
    private var recipient: String?

    /// Attributes that are not known are ignored.
    /// - Returns: false when the value is not what the attribute needs.
    mutating func set(_ name: UnsafeBufferPointer<UInt8>, to value: UnsafeBufferPointer<UInt8>) -> Bool {
        // By length first: this is done a dozen times for every message.
        switch name.count {
        case 2 where name.reads("id"): Self.set(&id, value)
        case 3 where name.reads("key"): Self.set(&key, value)
        case 4 where name.reads("time"): Self.set(&time, Timestamp.plainDate(value))
        case 4 where name.reads("type"): Self.set(&type, MessageType(utf8: value))
        case 6 where name.reads("source"): Self.set(&source, value)
        case 6 where name.reads("device"): Self.set(&device, value)
        case 7 where name.reads("subject"): Self.set(&subject, value)
        case 8 where name.reads("platform"): Self.set(&platform, value)
        case 8 where name.reads("instance"): Self.set(&instance, value)
        case 9 where name.reads("recipient"): Self.set(&recipient, value)
        case 10 where name.reads("expirytime"): Self.set(&expiryTime, Timestamp.plainDate(value))
        case 11 where name.reads("causationid"): Self.set(&causationID, value)
        case 11 where name.reads("specversion"): Self.set(&isVersion1, value.reads("1.0") ? true : nil)
        case 11 where name.reads("traceparent"): Self.set(&traceparent, value)
        case 13 where name.reads("correlationid"): Self.set(&correlationID, value)
        default: true
        }
    }

    /// Nil unless all is there that must be.
    var attributes: Attributes? {
        guard isVersion1, let id, let source, let type, let time else { return nil }
        var attributes = Attributes(
            type: type, source: source, subject: subject ?? Session.default, id: id, time: time)
        if let correlationID { attributes.correlationID = correlationID }
        attributes.causationID = causationID
        attributes.traceparent = traceparent
        attributes.expiryTime = expiryTime
        attributes.platform = platform
        attributes.device = device
        attributes.instance = instance
        attributes.key = key
        attributes.recipient = recipient
        return attributes
    }

    private static func set(_ field: inout String?, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        field = String(utf8: value)
        return field != nil
    }

    private static func set<Value>(_ field: inout Value?, _ value: Value?) -> Bool {
        field = value
        return value != nil
    }

    private static func set(_ field: inout Bool, _ value: Bool?) -> Bool {
        field = value ?? false
        return field
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func reads(_ text: StaticString) -> Bool {
        elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
