import Foundation
import Support
import Testing

@Suite("Text of JSON")
struct JSONTextTests {
    private static let text = #"{"n":12345678901234567890,"d":1.10,"a":[1e2,{"x":"}\",]"}],"é":"\u0041","n":2,"e":{}}"#

    private func json(_ text: String) throws -> JSONText { try #require(JSONText(Data(text.utf8))) }

    @Test("Only the blanks between the parts of JSON are removed")
    func blanks() throws {
        #expect(try json("\n" + Self.text + " ").description == Self.text)
        #expect(try json("{ \"a b\" :\n[ 1 ,\t\"c , d\" ] }").description == #"{"a b":[1,"c , d"]}"#)
        #expect(try json(json(Self.text).indented).description == Self.text)
    }

    @Test(
        "A value at a path is returned as it is written",
        arguments: [
            ("n", "12345678901234567890"), ("d", "1.10"), ("a.0", "1e2"), ("a.1.x", #""}\",]""#), ("é", #""\u0041""#),
            ("e", "{}"), ("a.2", nil), ("a.x", nil), ("n.x", nil), ("e.x", nil), ("none", nil),
        ])
    func paths(path: String, value: String?) throws {
        let json = try json(Self.text)
        #expect(json.value(at: path.split(separator: ".").map(String.init))?.description == value)
        let found = try JSONValue(parsing: Data(Self.text.utf8)).value(at: path)
        #expect((found == nil) == (value == nil))
    }

    @Test(
        "A number that is too large for a double is refused",
        arguments: ["1e999", "[-1e400]", "{\"a\":1" + String(repeating: "0", count: 400) + "}"])
    func largeNumbers(text: String) {
        #expect(throws: DecodingError.self) { try JSONText(parsing: Data(text.utf8)) }
        #expect(throws: DecodingError.self) { try JSONValue(parsing: Data(text.utf8)) }
    }

    @Test("A member whose name is written with escapes is found")
    func escapedName() throws {
        let json = try json(#"{"d\u0061ta":{"a":1}}"#)
        #expect(json["data"]?.description == #"{"a":1}"#)
        #expect(try self.json(#""\u0041""#).stringValue == "A")
    }

    @Test("The strings can be replaced, and names and numbers stay")
    func strings() throws {
        let json = try json(#"{"m1":"m1","n":1.10,"l":["m1","\u006d1","x\u0041"]}"#)
        let changed = json.replacingStrings { $0 == "m1" ? "new\n" : nil }
        #expect(changed.description == #"{"m1":"new\n","n":1.10,"l":["new\n","new\n","x\u0041"]}"#)
    }

    @Test("A member can be added as it is written")
    func adding() throws {
        let member = try json("[1.10, {}]")
        #expect(try json(#"{"a":1}"#).adding("b\"", member).description == #"{"a":1,"b\"":[1.10,{}]}"#)
        #expect(try json("{}").adding("b", member).description == #"{"b":[1.10,{}]}"#)
        #expect(try json("[1]").adding("b", member).description == "[1]")
        #expect(try JSONText(encoding: ["b": 1, "a": 2]).description == #"{"a":2,"b":1}"#)
    }

    @Test("JSON is indented for a person")
    func indented() throws {
        #expect(
            try json(#"{"a":[1,{}],"b":"x,{","c":[]}"#).indented == """
                {
                  "a" : [
                    1,
                    {}
                  ],
                  "b" : "x,{",
                  "c" : []
                }
                """)
        #expect(try json("1.10").indented == "1.10")
    }
}
