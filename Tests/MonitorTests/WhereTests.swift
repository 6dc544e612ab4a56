import EventBus
import Foundation
import Monitor
import TestSupport
import Testing

@Suite("Where-expressions")
struct WhereTests {
    /// The message to which the expressions of this suite are applied.
    private static func message() throws -> Envelope {
        try .fixed(
            "command.PlaylistSelected",
            #"{"playlistID":"p1","count":3,"big":9007199254740993,"on":true,"none":null,"tags":["a","b"],"#
                + #""songs":[{"title":"One"},{"title":"Two"}],"of":{"x":1.5},"odd \" text":"é"}"#,
            source: "music-service/ab12"
        ) {
            $0.correlationID = "c0"
            $0.platform = "ios"
        }
    }

    private func isTrue(_ text: String) throws -> Bool {
        try WhereExpression(text).matches(MessageValues(Self.message()))
    }

    @Test(
        "An expression can be true of a message",
        arguments: [
            "kind == command", "kind != event", "type == command.PlaylistSelected", "name == PlaylistSelected",
            #"data.playlistID == "p1""#, "data.playlistID == p1", "data.playlistID == 'p1'", "data.count == 3",
            "data.count == 3.0", "data.count > 2", "data.count >= 3", "data.count <= 3", "data.count < 1e1",
            "data.big > 9007199254740992", "data.on == true", "data.none == null", "data.missing == null",
            "data.missing.deeper == null", "data.missing != x", "data.tags contains a", "data.playlistID contains p",
            "data.of contains x", "data.songs[1].title == Two", "data.songs.0.title == One", "data.of.x == 1.5",
            "source matches music-service/*", "type matches '*.Playlist?elected'", "data.playlistID in [p0, \"p1\"]",
            "kind in [event,command]", "data.count in [1, 3]", "data.on exists", "not data.missing exists",
            "not data.none exists", "kind == command and data.count == 3 or kind == event",
            "kind == event or kind == command and data.count == 3", "not (kind == event or data.count == 4)",
            "not kind == event and data.count == 3", "kind==command&&!(data.count==4||kind==event)",
            "time > 2026-03-01T12:34:56Z", "time < 2026-03-01T13:34:57+01:00", "time >= '2026-03-01T12:34:56.789Z'",
            "correlationid != id", "platform == ios", "instance == null", "position.offset == 17",
            "data.playlistID == \"p1\"", "(kind == command) and\r\ndata.count == 3", "data.playlistID != '\u{301}p1'",
            "data.playlistID != \"\u{301}p1\"",
            #"data.tags == null or data contains "odd \" text""#, "key == null", "data.playlistID == data.playlistID",
        ])
    func holds(text: String) throws {
        #expect(try isTrue(text))
    }

    @Test(
        "An expression with missing values or other types is false, and not a mistake",
        arguments: [
            "data.count == \"3\"", "data.count < \"4\"", "data.playlistID > 1", "data.missing < 1", "data.missing > x",
            "data.none <= null", "data.on >= true", "data.tags == a", "data.count contains 3", "data.count matches 3",
            "data.missing contains a", "data.missing matches '*'", "data.missing in [a]", "data.songs[7] exists",
            "data.of[0] exists", "data.playlistID.inside exists", "data.big == 9007199254740992", "recipient exists",
        ])
    func doesNotHold(text: String) throws {
        #expect(try !isTrue(text))
    }

    @Test("An expression on data that are not JSON is false")
    func noJSON() throws {
        let message = MessageValues(try .fixed("event.X", "no JSON"))
        #expect(try !WhereExpression("data exists").matches(message))
        #expect(try WhereExpression("type == event.X").matches(message))
    }

    @Test(
        "A mistake is reported with its column",
        arguments: [
            ("data.playlistID ==", "expected a value after '==' (column 19)"),
            ("data.x == and y", "expected 'and' or 'or' instead of 'y' (column 15)"),
            ("", "expected a path such as type or data.url (column 1)"),
            ("tpye == x", "there is no attribute 'tpye'; did you mean type? (column 1)"),
            (
                "kind == event and playlistID == x",
                "there is no attribute 'playlistID'; write data.playlistID for a member of the data (column 19)"
            ),
            ("kind == evnt", "'evnt' is not a kind; did you mean event? (column 9)"),
            ("kind in [event, x]", "'x' is not a kind; kinds are command, event, error, document, query (column 17)"),
            (
                "kind = event",
                "expected a comparison such as '==' or 'exists' after 'kind'; did you mean '=='? (column 6)"
            ),
            ("data.x", "expected a comparison such as '==' or 'exists' after 'data.x' (column 7)"),
            ("(kind == event", "expected ')' instead of the end (column 15)"),
            ("kind == event)", "expected 'and' or 'or' instead of ')' (column 14)"),
            ("data.x == \"a", "the string is not closed; add \" (column 11)"),
            (
                #"data.x == "\q""#,
                "this is not a JSON string; use the escapes of JSON, or single quotes (column 11)"
            ),
            ("data.x in a", "expected '[' after 'in' (column 11)"),
            ("data.x in [a b]", "expected ',' or ']' instead of 'b' (column 14)"),
            ("data.x in []", "expected a value after '[' (column 12)"),
            ("data.x in [a,]", "expected a value after ',' (column 14)"),
            ("data.x matches", "expected a pattern such as 'music-*' after 'matches' (column 15)"),
            ("data..x == 1", "expected a name after '.' (column 6)"),
            ("data[0]x == 1", "expected '.' or '[' before 'x' (column 8)"),
            ("type.x == 1", "'type' is a string and has no members (column 5)"),
            ("data.x == 1 % 2", "unexpected '%'; put a string in quotes (column 13)"),
            ("time > yesterday", "'yesterday' is not a time; write it as 2026-03-01T12:00:00Z (column 8)"),
            ("data.x == data.[", "expected a name after '.' (column 16)"),
        ])
    func mistakes(text: String, message: String) {
        #expect { try WhereExpression(text) } throws: { "\($0)" == message }
    }

    @Test("60 nested parentheses are accepted, and 20,000 are refused without exhausting the stack")
    func depth() throws {
        let nested = { (count: Int) in
            String(repeating: "(", count: count) + "kind == command" + String(repeating: ")", count: count)
        }
        #expect(try isTrue(nested(60)))
        #expect { try WhereExpression(nested(20_000)) } throws: {
            "\($0)" == "the expression is nested more than 64 levels deep (column 65)"
        }
        #expect { try WhereExpression(String(repeating: "not ", count: 20_000)) } throws: {
            "\($0)".hasPrefix("the expression is nested more than 64 levels deep")
        }
        let long = Array(repeating: "kind == command", count: 2000).joined(separator: " and ")
        #expect(try isTrue(long))
    }
}

@Suite("Random where-expressions")
struct WhereFuzzTests {
    private static let pieces = [
        "kind", "type", "data", "data.x", "data.a[0].b", "time", "position.offset", "==", "!=", "<", "<=", ">", ">=",
        "=", "contains", "matches", "in", "exists", "and", "or", "not", "&&", "||", "!", "(", ")", "[", "]", ",", "\"",
        "'", "\\", "\"t\"", "'t'", "null", "true", "1", "-2.5e3", "1e999", "event", "*", "?", ".", "é", "集", "\u{0}",
        "\n", "👩‍👩‍👧", "\u{301}", "2026-03-01T12:00:00Z",
    ]

    @Test("Any text is an expression with a result, or a mistake with a column", arguments: 0..<8)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let messages = try ["{}", #"{"x":1,"a":[{"b":"t"}]}"#, #"{"x":"t"}"#, "no JSON", "[]", ""].map {
            MessageValues(try .fixed("event.X", $0))
        }
        var understood = 0
        for _ in 0..<500 {
            let text = Self.text(with: &generator)
            do {
                let expression = try WhereExpression(text)
                let opposite = try WhereExpression("not (\(text))")
                for message in messages {
                    #expect(expression.matches(message) != opposite.matches(message), "\(text)")
                }
                understood += 1
            } catch {
                #expect((1...text.count + 1).contains(error.column), "\(text): \(error)")
            }
        }
        #expect(understood > 0, "some of them have to have a meaning")
    }

    /// A random sequence of pieces of expressions, or an expression of comparisons with random operators and values.
    private static func text(with generator: inout SeededGenerator) -> String {
        guard generator.chance(1, in: 2) else {
            let count = Int.random(in: 0...12, using: &generator)
            let separator = generator.chance(1, in: 3) ? "" : " "
            return (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }.joined(separator: separator)
        }
        let tests = (0...Int.random(in: 0...3, using: &generator)).map { _ in
            let sign = ["==", "!=", "<", ">=", "contains", "matches"].randomElement(using: &generator) ?? "=="
            let value = pieces.randomElement(using: &generator) ?? "1"
            return "data.x \(sign) \(value)"
        }
        return tests.joined(separator: generator.chance(1, in: 2) ? " and " : " or not ")
    }
}
