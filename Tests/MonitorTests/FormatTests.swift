import EventBus
import Foundation
import Monitor
import Support
import Testing

@Suite("Output formats")
struct FormatTests {
    private func text(_ format: any MessageFormat, _ message: Envelope) throws -> String {
        var lines: [UInt8] = []
        try format.write(message, to: &lines)
        return String(decoding: lines, as: UTF8.self)
    }

    private func paths(_ texts: String...) throws -> [MessagePath] {
        try texts.map { try MessagePath($0) }
    }

    @Test("The format of fields has a line for each message, with tabs, and empty fields for missing values")
    func fields() throws {
        let message = try Envelope.fixed("event.X", #"{"url":"a\tb\u001b[2J","n":1.50,"o":{"z":[1]},"no":null}"#)
        let format = FieldFormat(try paths("type", "data.url", "data.n", "data.o", "data.no", "data.o.z[0]", "key"))
        #expect(try text(format, message) == "event.X\ta b\\u001b[2J\t1.50\t{\"z\":[1]}\t\t1\t\n")
    }

    @Test("The format of raw data has the original bytes")
    func raw() throws {
        #expect(try text(RawFormat(), .fixed("event.X", "{ \"a\" :\n1.50 }")) == "{ \"a\" :\n1.50 }\n")
        #expect(try text(RawFormat(), .fixed("document.X", "")) == "\n")
    }

    @Test("The format CSV has a heading, and quotes cells that need it")
    func csv() throws {
        let format = CSVFormat(try paths("type", "data.text", "data.n"))
        #expect(format.heading == "type,data.text,data.n")
        for (value, cell) in [
            ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""), ("a\nb", "\"a\nb\""),
            ("a\r\nb", "\"a\r\nb\""), ("\r", "\"\r\""), ("", ""),
        ] {
            let data = try JSONEncoder().encode(["text": value])
            let message = try Envelope.fixed("event.X", String(decoding: data, as: UTF8.self))
            #expect(try text(format, message) == "event.X,\(cell),\n")
        }
    }

    @Test("A template is filled with the values of a message")
    func template() throws {
        let message = try Envelope.fixed("command.PlaylistSelected", #"{"playlistID":"p1","list":[1,{"a":"b"}]}"#)
        for (template, line) in [
            (
                "{time} {type} {data.playlistID}",
                "2026-03-01T12:34:56.789Z command.PlaylistSelected p1"
            ),
            ("{{{kind}}} }} {{x}", "{command} } {x}"), (#"{name}\t{data.list[1].a}\n\x"#, "PlaylistSelected\tb\n\\x"),
            ("{data.missing}|{data.list}", "|[1,{\"a\":\"b\"}]"), ("", ""), ("}", "}"),
        ] {
            #expect(try text(TemplateFormat(template), message) == "\(line)\n")
        }
    }

    @Test(
        "A template that cannot be filled in is refused with the column",
        arguments: [
            ("{time} {tpye}", "there is no attribute 'tpye'; did you mean type? (column 9)"),
            ("{time", "'{' is not closed; add '}', or write '{{' for a brace (column 1)"),
            ("é {}", "expected a path such as type or data.url (column 4)"),
            ("{data.}", "expected a name after '.' (column 7)"),
        ])
    func badTemplate(text: String, message: String) {
        #expect { try TemplateFormat(text) } throws: { "\($0)" == message }
    }

    @Test(
        "A path gives the value at its place in a message",
        arguments: [
            ("time", "2026-03-01T12:34:56.789Z"), ("source", "device/1"), ("id", "m1"), ("subject", "default"),
            ("correlationid", "m1"), ("causationid", ""), ("position", #"{"epoch":"ab","offset":17}"#),
            ("position.epoch", "ab"), ("data", #"{"a":[[1,2]]}"#), ("data.a[0][1]", "2"), ("data.a.0.1", "2"),
        ])
    func paths(path: String, value: String) throws {
        #expect(try MessageValues(.fixed("event.X", #"{"a":[[1,2]]}"#)).text(at: MessagePath(path)) == value)
    }
}

@Suite("Styled text")
struct StyledTextTests {
    private func wrapped(_ text: StyledText, _ columns: Int) -> [String] {
        text.wrapped(columns: columns).map { $0.rendered(isColored: true, columns: nil).description }
    }

    @Test("A text is wrapped to a width without losing characters or styles")
    func wrapping() {
        var text = StyledText("abc", .bold)
        text.append("defgh")
        #expect(wrapped(text, 8) == ["\u{1B}[1mabc\u{1B}[0mdefgh"])
        #expect(wrapped(text, 5) == ["\u{1B}[1mabc\u{1B}[0mde", "fgh"])
        #expect(wrapped(text, 2) == ["\u{1B}[1mab\u{1B}[0m", "\u{1B}[1mc\u{1B}[0md", "ef", "gh"])
        #expect(wrapped(StyledText("あいu"), 3) == ["あ", "いu"])
        #expect(wrapped(StyledText("あいu"), 1) == ["あ", "い", "u"])
        #expect(wrapped(StyledText("ab"), 0) == ["a", "b"])
        #expect(wrapped(StyledText(), 3) == [""])
    }
}
