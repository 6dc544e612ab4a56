import Foundation
import Support
import Testing

@Suite("JSON values")
struct JSONValueTests {
    private let song: JSONValue = [
        "title": "Aria", "seconds": 123, "rating": 4.5, "live": false, "tags": ["slow", ["x": .null]], "album": .null,
    ]

    @Test("A value is written and read back")
    func roundTrip() throws {
        #expect(try JSONValue(parsing: JSONEncoder().encode(song)) == song)
        #expect(try JSONValue(parsing: Data(song.description.utf8)) == song)
    }

    @Test("Whole numbers keep all of their digits")
    func largeIntegers() throws {
        #expect(try JSONValue(parsing: Data("9007199254740993".utf8)) == .integer(9_007_199_254_740_993))
        #expect(try JSONValue(parsing: Data("1e300".utf8)) == .number(1e300))
        #expect(try JSONValue(parsing: Data("true".utf8)) == .bool(true))
        #expect(try JSONValue(parsing: Data("1".utf8)) == .integer(1))
    }

    @Test(
        "The parser and Foundation read the same text equally",
        arguments: [
            #"{"a":[1,-2,0.5,1e3,-1.5E-2,true,false,null,{}],"b":{},"c":[]}"#, " [ 1 , 2 ]\n", #""""#, "0", "-0",
            #""\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00 ä😀""#, "18446744073709551615", #"{"a":1,"a":2}"#,
        ])
    func parserAgrees(text: String) throws {
        let value = try JSONValue(parsing: Data(text.utf8))
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == value)
        #expect(try JSONValue(parsing: Data(value.description.utf8)) == value)
    }

    @Test(
        "Invalid JSON is refused with its place",
        arguments: [
            ("", 1), ("[1,]", 4), ("[1 2]", 4), ("{\"a\"}", 5), ("{a:1}", 2), ("01", 2), ("1.", 3), ("-", 2), ("+1", 1),
            ("tru", 1), ("nul", 1), ("NaN", 1), ("\"a", 3), ("\"a\nb\"", 3), (#""\x""#, 4), (#""\ud83d""#, 8),
            (#""\u12g4""#, 4), ("{} {}", 4), ("1e999", 6), ("[1", 3), ("{\"a\":1,}", 8),
        ])
    func malformed(text: String, place: Int) {
        let error = #expect(throws: DecodingError.self) { try JSONValue(parsing: Data(text.utf8)) }
        guard case .dataCorrupted(let context) = error else { return }
        #expect(context.debugDescription.hasSuffix(" at byte \(place)"), "\(context.debugDescription)")
    }

    @Test("Bytes that are not UTF-8, and excessive nesting, are refused")
    func hostile() throws {
        #expect(throws: DecodingError.self) { try JSONValue(parsing: Data([0x22, 0xff, 0x22])) }
        let nested = String(repeating: "[", count: 100_000)
        #expect(throws: DecodingError.self) { try JSONValue(parsing: Data(nested.utf8)) }
        let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(try JSONValue(parsing: Data(deep.utf8)).arrayValue?.count == 1)
    }

    @Test("A part of a message is decoded up to a depth, so the time is bounded", arguments: [128, 129])
    func depth(of arrays: Int) throws {
        let text = String(repeating: "[", count: arrays) + String(repeating: "]", count: arrays)
        let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect((value != nil) == (arrays == 128))
    }

    @Test("A number equals itself however it is stored")
    func numbers() {
        #expect(JSONValue.number(1) == .integer(1))
        #expect(JSONValue.number(1).hashValue == JSONValue.integer(1).hashValue)
        #expect(JSONValue.number(1.5) != .integer(1))
        #expect(JSONValue.integer(1) != .bool(true))
        #expect(JSONValue.string("1") != .integer(1))
    }

    @Test("A missing member is nil, without a trap")
    func access() {
        #expect(song["title"] == "Aria")
        #expect(song["tags"]?[0] == "slow")
        #expect(song["tags"]?[7] == nil)
        #expect(song["title"]?["x"] == nil)
        #expect(song["none"] == nil)
        #expect(song["album"] == .null)
        #expect(song.value(at: "tags.1.x") == .null)
        #expect(song.value(at: "tags.x") == nil)
        #expect(song.value(at: "tags.-1") == nil)
        #expect(song.value(at: "title.0") == nil)
        #expect(song.value(at: "") == song)
        #expect(song["seconds"]?.numberValue == 123)
        #expect(song["rating"]?.integerValue == nil)
    }

    @Test("The text is canonical: names in order, no spaces, escapes where JSON wants them")
    func text() {
        let value: JSONValue = ["b": [1, 2.5, true], "a": "say \"hi\"\n\u{1}\\ü"]
        #expect(value.description == #"{"a":"say \"hi\"\n\u0001\\ü","b":[1,2.5,true]}"#)
        #expect(JSONValue.number(3).description == JSONValue.integer(3).description)
    }

    @Test("Typed values are converted to JSON and back")
    func typed() throws {
        let button = AlertButton(id: "ok", title: "OK")
        let value = try JSONValue(encoding: button)
        #expect(value == ["id": "ok", "title": "OK"])
        #expect(try value.decode(AlertButton.self) == button)
        #expect(throws: DecodingError.self) { try JSONValue.string("x").decode(AlertButton.self) }
        #expect(throws: DecodingError.self) { try JSONValue(parsing: Data("{".utf8)) }
    }
}

private struct AlertButton: Codable, Hashable {
    var id: String
    var title: String
    var role: String?
}
