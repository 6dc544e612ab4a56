internal import Foundation

/// What a header in the plain form says, as it is read: where its texts lie. They are made once all of it is known.
struct HeaderFields {
    private var id: Text?
    private var source: Text?
    private var specVersion: Text?
    private var type: Text?
    private var subject: Text?
    private var time: Text?
    private var correlationID: Text?
    private var causationID: Text?
    private var traceparent: Text?
    private var expiryTime: Text?
    private var platform: Text?
    private var device: Text?
    private var instance: Text?
    private var key: Text?
    private var recipient: Text?

    typealias Text = UnsafeBufferPointer<UInt8>

    /// Attributes that are not known are ignored; of equal ones the first counts, as Foundation has it.
    mutating func set(_ name: Text, to value: Text) {
        // By length first: this is done a dozen times for every message.
        switch name.count {
        case 2 where name.reads("id"): id = id ?? value
        case 3 where name.reads("key"): key = key ?? value
        case 4 where name.reads("time"): time = time ?? value
        case 4 where name.reads("type"): type = type ?? value
        case 6 where name.reads("source"): source = source ?? value
        case 6 where name.reads("device"): device = device ?? value
        case 7 where name.reads("subject"): subject = subject ?? value
        case 8 where name.reads("platform"): platform = platform ?? value
        case 8 where name.reads("instance"): instance = instance ?? value
        case 9 where name.reads("recipient"): recipient = recipient ?? value
        case 10 where name.reads("expirytime"): expiryTime = expiryTime ?? value
        case 11 where name.reads("causationid"): causationID = causationID ?? value
        case 11 where name.reads("specversion"): specVersion = specVersion ?? value
        case 11 where name.reads("traceparent"): traceparent = traceparent ?? value
        case 13 where name.reads("correlationid"): correlationID = correlationID ?? value
        default: break
        }
    }

    /// Nil unless all is there that must be, and each is what its attribute needs.
    func attributes() -> Attributes? {
        do {
            guard specVersion?.reads("1.0") == true, let id = try id.map(Self.string),
                let source = try source.map(Self.string), let type = type.flatMap(MessageType.init(utf8:)),
                let time = try time.map(Self.date)
            else { return nil }
            // A story's first message bears its own id twice.
            let isFirst = correlationID?.elementsEqual(self.id ?? Text(start: nil, count: 0)) ?? true
            var attributes = Attributes(
                type: type, source: source, subject: try subject.map(Self.string) ?? Session.default, id: id,
                time: time,
                correlationID: isFirst ? id : try correlationID.map(Self.string) ?? id,
                traceparent: try traceparent.map(Self.string))
            attributes.causationID = try causationID.map(Self.string)
            attributes.expiryTime = try expiryTime.map(Self.date)
            attributes.platform = try platform.map(Self.string)
            attributes.device = try device.map(Self.string)
            attributes.instance = try instance.map(Self.string)
            attributes.key = try key.map(Self.string)
            attributes.recipient = try recipient.map(Self.string)
            return attributes
        } catch {
            return nil
        }
    }

    private struct NotPlain: Error {}

    private static func string(_ text: Text) throws(NotPlain) -> String {
        guard let string = String(utf8: text) else { throw NotPlain() }
        return string
    }

    private static func date(_ text: Text) throws(NotPlain) -> Date {
        guard let date = Timestamp.plainDate(text) else { throw NotPlain() }
        return date
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func reads(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && baseAddress.map { memcmp($0, text.utf8Start, count) } == 0
    }
}
