import EventBus
import Foundation
import Monitor
import Testing

@Suite("A message for a program")
struct CloudEventFormatTests {
    @Test("is one line with all attributes, the data as it was written, and the position")
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

    @Test("is readable by whoever reads CloudEvents", arguments: ["{}", "", "no JSON\u{1B}\n", "[1,2]", "\"text\""])
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
