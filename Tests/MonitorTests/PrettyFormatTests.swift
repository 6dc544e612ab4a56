import EventBus
import Foundation
import Monitor
import Support
import Testing

@Suite("Messages for a person")
struct PrettyFormatTests {
    private let format = PrettyFormat(zone: .utc)

    private func plain(_ message: Envelope) -> String {
        format.line(message).rendered(isColored: false, columns: nil).description
    }

    @Test("A message is time, type, source and data on one line")
    func line() throws {
        let message = try Envelope.fixed("command.PlaylistSelected", #"{"playlistID": "p1"}"#)
        #expect(plain(message) == #"12:34:56.789 command.PlaylistSelected device/1 → {"playlistID":"p1"}"#)
    }

    @Test("The line has the key of a document, and the session if it is not the default")
    func keyAndSubject() throws {
        let message = try Envelope.fixed("document.NavigationState", "{}") {
            $0.key = "ios"
            $0.subject = "alice"
        }
        #expect(plain(message) == "12:34:56.789 document.NavigationState[ios] @alice device/1 → {}")
    }

    @Test("The line of a withdrawal says that the document is withdrawn")
    func tombstone() throws {
        #expect(plain(try .fixed("document.Devices", "")) == "12:34:56.789 document.Devices device/1 → withdrawn")
    }

    @Test("Control characters and direction overrides are made visible")
    func controls() throws {
        let message = try Envelope.fixed(
            "event.X", "\u{1B}[2Jnot\u{07} JSON\r\n\u{202E}", source: "a\u{1B}]0;b\u{9C}/1")
        #expect(
            plain(message)
                == #"12:34:56.789 event.X a\u001b]0;b\u009c/1 → 18 bytes that are not JSON: \u001b[2Jnot\u0007 JSON  \u202e"#
        )
    }

    @Test("A line is cut to the width of the terminal, and wide characters count as two columns")
    func cut() throws {
        let message = try Envelope.fixed("event.X", #"{"name":"集中"}"#)
        let whole = #"12:34:56.789 event.X device/1 → {"name":"集中"}"#
        #expect(format.line(message).rendered(isColored: false, columns: 47).description == whole)
        #expect(
            format.line(message).rendered(isColored: false, columns: 45).description
                == #"12:34:56.789 event.X device/1 → {"name":"集…"#)
    }

    @Test("The kind has a colour, which ends where the line is cut")
    func color() throws {
        let line = format.line(try .fixed("error.ApplicationError"))
        #expect(
            line.rendered(isColored: true, columns: 17).description
                == "\u{1B}[2m12:34:56.789\u{1B}[0m \u{1B}[31merr\u{1B}[0m…")
    }

    @Test("The line has cause and origin on request")
    func details() throws {
        let message = try Envelope.fixed("command.BackCompleted") {
            $0.correlationID = "c0"
            $0.causationID = "c1"
            $0.platform = "ios"
            $0.instance = "launch-1"
            $0.expiryTime = Date(timeIntervalSince1970: 1_772_368_556.789)
        }
        let lines = format.details(message).map { $0.rendered(isColored: false, columns: nil).description }
        #expect(
            lines == [
                "    id: m1", "    position: ab/17", "    caused by: c1, in the story of c0",
                "    from view: ios launch-1", "    expires: 2026-03-01T12:35:56.789Z",
            ])
    }
}
