import Foundation
import HostileValues
import Support
import TestSupport
import Testing

@testable import EventBus

@Suite("The header of a message")
struct HeaderTests {
    static let full: Attributes = {
        let type = MessageType(kind: .document, name: "Basket")
        var attributes = Attributes(type: type, source: "shop/1", subject: "amélie \"1\"\n", id: "id/1")
        attributes.expiryTime = attributes.time.addingTimeInterval(60)
        attributes.correlationID = "first"
        attributes.causationID = "cause"
        attributes.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        (attributes.platform, attributes.device, attributes.instance) = ("ios", "phone", "basket-3")
        (attributes.key, attributes.recipient) = ("k\\ey\t\r\u{8}\u{c}\u{1}", "shop")
        return attributes
    }()

    static let plain = Attributes(type: MessageType(kind: .event, name: "Opened"), source: "shop/1")

    /// Needs far more room than the characters of its attributes.
    static let controls = Attributes(
        type: plain.type, source: String(repeating: "\u{1}", count: 255), subject: String(repeating: "\"", count: 255))

    @Test("A header is written with the same bytes that Foundation writes", arguments: [full, plain, controls])
    func bytes(_ attributes: Attributes) throws {
        let written = try FoundationJSON.encoder.encode(attributes)
        #expect(String(decoding: attributes.json, as: UTF8.self) == String(decoding: written, as: UTF8.self))
    }

    @Test("A header is read as it was written", arguments: [full, plain, controls])
    func roundTrip(_ attributes: Attributes) throws {
        let read = try Attributes(json: attributes.json[...])
        #expect(read.json == attributes.json)
        #expect(read.subject == attributes.subject)
        #expect(abs(read.time.timeIntervalSince(attributes.time)) <= 0.0005)
    }

    @Test(
        "The header of another producer is read in every form of JSON",
        arguments: [
            #" { "specversion" : "1.0", "id":"1", "source":"me","type":"event.Opened","time":"2026-01-02T03:04:05.006Z" } "#,
            #"{"specversion":"1.0","id":"1","source":"me","type":"event.Opened","time":"2026-01-02T03:04:05.006Z","n":1}"#,
            #"{"specversion":"1.0","id":"\u0031","source":"me","type":"event.Opened","time":"2026-01-02T04:04:05.006+01:00"}"#,
            #"{"extra":{"a":[1]},"specversion":"1.0","id":"1","source":"me","type":"event.Opened","time":"2026-01-02T03:04:05.006Z"}"#,
        ])
    func foreign(_ text: String) throws {
        let attributes = try Attributes(json: Array(text.utf8)[...])
        #expect(attributes.id == "1")
        #expect(Timestamp.text(of: attributes.time) == "2026-01-02T03:04:05.006Z")
    }

    @Test(
        "A header with duplicate keys is read with the first value, in every form of JSON",
        arguments: [
            "id", "source", "type", "subject", "time", "correlationid", "causationid", "traceparent", "expirytime",
            "platform", "device", "instance", "key", "recipient",
        ])
    func equalKeys(_ key: String) throws {
        let isTime = key == "time" || key == "expirytime"
        let values =
            isTime ? ["2026-01-02T03:04:05.006Z", "2027-01-02T03:04:05.006Z"] : ["event.First", "event.Second"]
        var members = [
            "specversion": "1.0", "id": "1", "source": "me", "type": "event.Opened", "time": "2026-01-02T03:04:05.006Z",
        ]
        members[key] = nil
        let start = "{" + members.map { #""\#($0)":"\#($1)""# }.joined(separator: ",")
        let plain = start + values.map { #","\#(key)":"\#($0)""# }.joined() + "}"
        // A header with an escape is read by Foundation.
        let escaped = start + #","extra":"\u0031""# + values.map { #","\#(key)":"\#($0)""# }.joined() + "}"
        let attributes = try Attributes(json: Array(plain.utf8)[...])
        #expect(attributes == (try Attributes(json: Array(escaped.utf8)[...])))
        let written = String(decoding: attributes.json, as: UTF8.self)
        #expect(written.contains(#""\#(key)":"\#(values[0])""#), "\(written)")
        #expect(!written.contains(values[1]))
    }

    @Test(
        "A header in the plain form is read as in every form of JSON, and refused as there", arguments: [full, plain])
    func plainForm(_ attributes: Attributes) throws {
        var random = RandomValues(SeededGenerator(seed: 48))
        var (readCount, refusedCount) = (0, 0)
        var attributes = attributes
        attributes.time = Date(timeIntervalSince1970: 1_800_000_000)
        let header = attributes.json.dropLast() + Array(#","extra":"ü"}"#.utf8)
        for _ in 0..<3000 {
            let header = random.changed(Array(header))
            let read = try? JSONReader.decode(Attributes.self, from: header)
            let envelope = try? Envelope(received: header[...], data: [], position: nil)
            guard var read, let envelope else {
                refusedCount += 1
                #expect(read == nil && envelope == nil, "\(String(decoding: header, as: UTF8.self))")
                continue
            }
            readCount += 1
            // Without a time, each has the time at which it was read.
            if abs(read.time.timeIntervalSinceNow) < 5 { read.time = envelope.attributes.time }
            #expect(envelope.type == read.type)
            #expect(envelope.partition == Partition(subject: read.subject))
            #expect(envelope.attributes == read, "\(String(decoding: header, as: UTF8.self))")
        }
        #expect(readCount > 300 && refusedCount > 300)
    }

    @Test("Tasks that read the attributes of one envelope at the same time get the same ones")
    func readTogether() async throws {
        for _ in 0..<100 {
            let envelope = try Envelope(received: Self.plain.json[...], data: [], position: nil)
            let ids = await withTaskGroup(of: String.self) { group in
                for _ in 0..<4 { group.addTask { envelope.id } }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids == [Self.plain.id])
        }
    }

    @Test(
        "A header that is not CloudEvents is refused",
        arguments: [
            "", "{", "[]", "null", #"{"id":"1"}"#, "{\"id\":\"\u{1}\"}",
            #"{"specversion":"0.3","id":"1","source":"me","type":"event.Opened","time":"2026-01-02T03:04:05.006Z"}"#,
            #"{"specversion":"1.0","id":"1","source":"me","type":"Opened","time":"2026-01-02T03:04:05.006Z"}"#,
            #"{"specversion":"1.0","id":"1","source":"me","type":"event.Opened","time":"yesterday"}"#,
            #"{"specversion":"1.0","id":"1","source":"me","type":"event.Opened","time":"2026-01-02T03:04:05.006Z"}}"#,
        ])
    func refused(_ text: String) {
        #expect(throws: (any Error).self) { _ = try Attributes(json: Array(text.utf8)[...]) }
    }

    @Test("A header's times are written as Foundation writes them")
    func times() {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for day in stride(from: -141_000, through: 2_900_000, by: 997) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 45_296.5)
            let text = Timestamp.text(of: date)
            #expect(text == date.formatted(style))
            #expect(Timestamp.date(from: text) == date)
        }
    }

    @Test("Every message has its own id")
    func ids() {
        #expect(Set((0..<10_000).map { _ in MessageID.make() }).count == 10_000)
    }
}
