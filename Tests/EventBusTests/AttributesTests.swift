import EventBus
import Foundation
import Testing

@Suite("Attributes")
struct AttributesTests {
    @Test("a recipient is the CloudEvents extension of that name, and only it is concerned")
    func recipient() throws {
        let type = MessageType(kind: .command, name: "Order")
        var envelope = Envelope(attributes: Attributes(type: type, source: "test/1"), data: Data("{}".utf8))
        #expect(envelope.concerns("one") && envelope.concerns("two"))
        envelope.attributes.recipient = "two"
        #expect(!envelope.concerns("one") && envelope.concerns("two"))
        let json = try JSONEncoder.wire.encode(envelope.attributes)
        let fields = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(fields["recipient"] as? String == "two")
        #expect(try JSONDecoder().decode(Attributes.self, from: json).recipient == "two")
    }
}
