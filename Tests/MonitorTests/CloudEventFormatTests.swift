import EventBus
import Foundation
import Monitor
import Support
import Testing

@Suite("Messages as CloudEvents")
struct CloudEventFormatTests {
    @Test("A message is one line with all attributes, the original data, and the position")
    func line() throws {
        let message = try Envelope.fixed("command.PlaylistSelected", "{\n  \"z\": 1.50,\n  \"a\": \"x \\\" y\"\n}") {
            $0.causationID = "c1"
            $0.platform = "ios"
        }
        #expect(
            try CloudEventFormat.line(message) == """
                {"causationid":"c1","correlationid":"m1","id":"m1","platform":"ios","source":"device/1",\
                "specversion":"1.0","subject":"default","time":"2026-03-01T12:34:56.789Z",\
                "type":"command.PlaylistSelected","datacontenttype":"application/json",\
                "data":{"z":1.50,"a":"x \\" y"},"position":{"epoch":"ab","offset":17}}
                """)
    }

    @Test(
        "The line can be read by any reader of CloudEvents",
        arguments: ["{}", "", "no JSON\u{1B}\n", "[1,2]", "\"text\""])
    func structured(data: String) throws {
        let message = try Envelope.fixed("document.Devices", data) { $0.key = "k\"\n" }
        let line = try CloudEventFormat.line(message)
        let read = try JSONDecoder().decode(Structured.self, from: Data(line.utf8))
        #expect(!line.contains("\n"))
        #expect(read.key == "k\"\n" && read.position.offset == 17)
        let isJSON = JSONText(message.data) != nil
        #expect(read.datacontenttype == (data.isEmpty ? nil : isJSON ? "application/json" : "application/octet-stream"))
        #expect(read.dataBase64 == (isJSON || data.isEmpty ? nil : message.data))
    }

    private struct Structured: Decodable {
        struct Place: Decodable {
            let epoch: String
            let offset: UInt64
        }

        let key: String
        let datacontenttype: String?
        let dataBase64: Data?
        let position: Place

        enum CodingKeys: String, CodingKey {
            case key, datacontenttype, position
            case dataBase64 = "data_base64"
        }
    }
}

@Suite("Reading of CloudEvents")
struct CloudEventReadingTests {
    @Test(
        "A message is read as it was written, with the same bytes of data",
        arguments: [
            #"{}"#, #"{"z":1.0,"a":12345678901234567890,"e":1e400}"#, #"{"text":"}],\"{\\","deep":[[{"a":[]}],","]}"#,
            #"[1,2]"#, #""text""#, "null", "",
        ])
    func roundTrip(data: String) throws {
        let message = try Envelope.fixed("document.Devices", data) { attributes in
            attributes.correlationID = "m0"
            attributes.causationID = "m0"
            attributes.platform = "ios"
            attributes.device = "a \"device\""
            attributes.instance = "list-1"
            attributes.key = "k"
            attributes.recipient = "music-service"
            attributes.traceparent = "00-1-2-01"
            attributes.expire(after: .seconds(60))
        }
        let read = try CloudEventFormat.message(Data(CloudEventFormat.line(message).utf8))
        #expect(read.data == message.data)
        #expect(read.position == message.position)
        #expect(try CloudEventFormat.line(read) == CloudEventFormat.line(message))
    }

    @Test("Data that are not JSON are read from Base64")
    func binary() throws {
        let message = try Envelope.fixed("event.LaunchFinished", "{not json \u{1}")
        #expect(try CloudEventFormat.message(Data(CloudEventFormat.line(message).utf8)).data == message.data)
    }

    @Test("A CloudEvent of another producer is read, with blanks and unknown attributes")
    func foreign() throws {
        let line =
            #" { "specversion" : "1.0", "data" : { "n" : [ 1 ] }, "id":"1","source":"x","type":"event.A","x":[{}] }"#
        let message = try CloudEventFormat.message(Data(line.utf8))
        #expect(String(decoding: message.data, as: UTF8.self) == #"{"n":[1]}"#)
        #expect(message.subject == Session.default && message.position == nil)
    }

    @Test(
        "An invalid CloudEvent is refused with its mistake",
        arguments: [
            ("", "JSON"), ("[]", "dictionary"), (#"{"specversion":"1.0","source":"x","type":"event.A"}"#, "'id'"),
            (#"{"specversion":"1.0","id":"1","source":"x","type":"happening.A"}"#, "happening.A"),
            (#"{"specversion":"1.0","id":"1","source":"x","type":"event.A","data_base64":"%"}"#, "Base64"),
            (#"{"specversion":"1.0","id":"1","source":"x","type":"event.A","position":{"offset":1}}"#, "epoch"),
        ])
    func wrong(line: String, reason: String) throws {
        let error = #expect(throws: BusError.self) { try CloudEventFormat.message(Data(line.utf8)) }
        #expect(error?.message.localizedCaseInsensitiveContains(reason) == true, "\(error?.message ?? "")")
    }
}
