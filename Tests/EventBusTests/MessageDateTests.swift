import EventBus
import Foundation
import Support
import Testing

private struct Planned: EventMessage, Equatable {
    var at: Date
}

@Suite("A date in the data of a message")
struct MessageDateTests {
    private let date = Date(timeIntervalSince1970: 1_772_368_496.789)

    @Test("A date is written in RFC 3339, like the times of the message")
    func written() throws {
        let message = try Envelope(Planned(at: date), source: "s/1")
        #expect(String(decoding: message.data, as: UTF8.self) == #"{"at":"2026-03-01T12:34:56.789Z"}"#)
        #expect(try message.decode(Planned.self) == Planned(at: date))
        #expect(try JSONValue(encoding: Planned(at: date)) == ["at": "2026-03-01T12:34:56.789Z"])
    }

    @Test(
        "A date is read in RFC 3339, and as the number of seconds since 2001 of earlier versions",
        arguments: [#""2026-03-01T12:34:56.789Z""#, #""2026-03-01T13:34:56.789+01:00""#, "794061296.789"])
    func read(json: String) throws {
        var message = try Envelope(Planned(at: .distantPast), source: "s/1")
        message.data = Data(#"{"at":\#(json)}"#.utf8)
        #expect(try message.decode(Planned.self).at.milliseconds == date.milliseconds)
        #expect(try JSONValue(parsing: message.data).decode(Planned.self).at.milliseconds == date.milliseconds)
    }

    @Test(
        "A date in any other form is refused, and so is one that cannot be written",
        arguments: [#""soon""#, "true", "{}", "1e300"])
    func wrong(json: String) throws {
        var message = try Envelope(Planned(at: date), source: "s/1")
        message.data = Data(#"{"at":\#(json)}"#.utf8)
        #expect(throws: BusError.self) { try message.decode(Planned.self) }
        #expect(throws: BusError.self) { try Envelope(Planned(at: Date(timeIntervalSince1970: 1e15)), source: "s/1") }
    }
}
