import EventBus
import Foundation
import Support
import Testing

@Suite("Attributes")
struct AttributesTests {
    @Test("A message with a recipient concerns only that consumer, and its header has the attribute 'recipient'")
    func recipient() throws {
        let type = MessageType(kind: .command, name: "Order")
        var envelope = Envelope(attributes: Attributes(type: type, source: "test/1"), data: Data("{}".utf8))
        #expect(envelope.concerns("one") && envelope.concerns("two"))
        envelope.attributes.recipient = "two"
        #expect(!envelope.concerns("one") && envelope.concerns("two"))
        let json = try JSONWriter.data(of: envelope.attributes)
        let fields = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(fields["recipient"] as? String == "two")
        #expect(try JSONDecoder().decode(Attributes.self, from: json).recipient == "two")
    }

    static let long = String(repeating: "d", count: 256)

    @Test("A message inherits attributes from its cause, except those that exceed 255 bytes")
    func inheritance() {
        let type = MessageType(kind: .event, name: "Opened")
        var cause = Attributes(type: type, source: "device/1", subject: "alice")
        (cause.platform, cause.device, cause.instance) = ("ios", "phone", "list-3")
        cause.correlationID = "story"
        let result = Attributes(type: type, source: "shop/1", causedBy: cause)
        #expect(result.subject == "alice" && result.correlationID == "story" && result.causationID == cause.id)
        #expect((result.platform, result.device, result.instance) == ("ios", "phone", "list-3"))
        #expect(result.expiryTime == nil && result.id != cause.id)

        (cause.platform, cause.device, cause.instance) = (Self.long, Self.long, Self.long)
        (cause.correlationID, cause.traceparent) = (Self.long, Self.long)
        let bare = Attributes(type: type, source: "shop/1", causedBy: cause)
        #expect(bare.correlationID == cause.id && bare.causationID == cause.id)
        #expect(bare.platform == nil && bare.device == nil && bare.instance == nil)
        #expect(bare.traceparent.flatMap(TraceContext.init(parsing:)) != nil)

        cause.id = Self.long
        let orphan = Attributes(type: type, source: "shop/1", causedBy: cause)
        #expect(orphan.correlationID == orphan.id && orphan.causationID == nil)
    }

    @Test("By default, a command from a view expires after 60 s, and no other message expires")
    func usualLifetime() {
        func expiry(_ kind: MessageKind, device: String?) -> Duration? {
            var attributes = Attributes(type: MessageType(kind: kind, name: "A"), source: "a/1")
            attributes.device = device
            attributes.expireAsUsual()
            return attributes.expiryTime.map { .seconds($0.timeIntervalSince(attributes.time)) }
        }
        #expect(expiry(.command, device: "phone") == .seconds(60))
        #expect(expiry(.command, device: nil) == nil)
        #expect(expiry(.event, device: "phone") == nil)
    }

    @Test("A lifetime beyond all timestamps does not trap", arguments: [Int64.max, .min, 1 << 40, 0])
    func longLifetime(seconds: Int64) {
        var attributes = Attributes(type: MessageType(kind: .command, name: "A"), source: "a/1")
        attributes.expire(after: .seconds(seconds))
        #expect(attributes.json.count > 0)
        #expect(attributes.isExpired(at: attributes.time.addingTimeInterval(1)) == (seconds <= 0))
    }
}
