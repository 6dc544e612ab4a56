import Foundation
import HostileValues
import Support
import TestSupport
import Testing

@Suite("JSON of types")
struct JSONCodingTests {
    /// The number of random values. Each is written by two encoders and read by two decoders.
    private static let count = 3000

    @Test("Random values are written with the bytes that Foundation writes, and read again", arguments: 0..<4)
    func written(seed: UInt64) throws {
        var random = RandomValues(SeededGenerator(seed: seed))
        for _ in 0..<Self.count {
            let record = Record(&random)
            let json = try JSONWriter.bytes(of: record)
            #expect(try json == Array(FoundationJSON.encoder.encode(record)))
            #expect(FoundationJSON.agrees(Record.self, on: json))
        }
    }

    @Test("Random texts are accepted and refused as by Foundation", arguments: 0..<4)
    func read(seed: UInt64) throws {
        var random = RandomValues(SeededGenerator(seed: seed))
        for _ in 0..<Self.count {
            let json = random.changed(try JSONWriter.bytes(of: Record(&random)))
            #expect(FoundationJSON.agrees(Record.self, on: json), "\(String(decoding: json, as: UTF8.self))")
            let value = random.changed(try JSONWriter.bytes(of: random.json()))
            #expect(FoundationJSON.agrees([JSONValue].self, on: [0x5b] + value + [0x5d]))
        }
    }

    @Test(
        "A number is read as Foundation reads it",
        arguments: [
            "0", "-0", "-0.0", "1.0", "1.5", "1e3", "1e18", "1e19", "1e300", "1e999", "1e-400", "0e-400", "255", "256",
            "-1", "9007199254740992", "9007199254740993", "9007199254740993.0", "9223372036854775807",
            "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551616", "true",
            "null", #""1""#, "3.4e38", "1e39",
        ])
    func numbers(text: String) {
        let json = Array("[\(text)]".utf8)
        #expect(FoundationJSON.agrees([Int].self, on: json))
        #expect(FoundationJSON.agrees([UInt8].self, on: json))
        #expect(FoundationJSON.agrees([UInt64].self, on: json))
        #expect(FoundationJSON.agrees([Int64?].self, on: json))
        #expect(FoundationJSON.agrees([Double].self, on: json))
        #expect(FoundationJSON.agrees([Float].self, on: json))
        #expect(FoundationJSON.agrees([Bool].self, on: json))
        #expect(FoundationJSON.agrees([Decimal].self, on: json))
        #expect(FoundationJSON.agrees([JSONValue].self, on: json))
    }

    @Test(
        "A text that is not JSON is refused, also where no type reads it",
        arguments: [
            #"{"a":1,}"#, "{\"a\":1,\"b\":[01]}", "{\"a\":1,\"b\":\"\\x\"}", "\u{FEFF}{\"a\":1}", "{\"a\":1,\"b\":tru}",
            "{\"a\":1,\"b\":\"\u{1}\"}", #"{"a":1,"b":"\ud800"}"#,
        ])
    func strict(text: String) throws {
        struct Part: Decodable { let a: Int }
        let error = #expect(throws: DecodingError.self) { try JSONReader.decode(Part.self, from: text.utf8) }
        if case .dataCorrupted? = error { return }
        Issue.record("\(String(describing: error))")
    }

    @Test("An error has the kind and the path that Foundation's has")
    func errors() throws {
        let texts = [
            #"{"list":[{"name":1}]}"#, #"{"list":[{"name":"a"},{}]}"#, #"{"list":[null]}"#, #"{"list":{}}"#, "null",
            "[]",
            #"{"list":[{"name":"a","time":"soon"}]}"#, #"{"list":[{"name":"a","link":""}]}"#,
            #"{"list":[{"name":"a","data":"?"}]}"#,
        ]
        for text in texts {
            let expected = #expect(throws: DecodingError.self) {
                try FoundationJSON.decoder.decode(Named.self, from: Data(text.utf8))
            }
            let error = #expect(throws: DecodingError.self) { try JSONReader.decode(Named.self, from: text.utf8) }
            #expect(error.map(Self.words) == expected.map(Self.words), "\(text)")
        }
    }

    private struct Named: Decodable {
        struct Part: Decodable {
            let name: String
            let time: Date?
            let link: URL?
            let data: Data?
        }

        let list: [Part]
    }

    private static func words(_ error: DecodingError) -> String {
        let (kind, context) =
            switch error {
            case .typeMismatch(_, let context): ("mismatch", context)
            case .valueNotFound(_, let context): ("null", context)
            case .keyNotFound(let key, let context): ("no \(key.stringValue)", context)
            case .dataCorrupted(let context): ("corrupted", context)
            @unknown default: ("other", DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        return kind + " at " + context.codingPath.map(\.stringValue).joined(separator: ".")
    }

    @Test("Members may be encoded in turns, and the last of two with the same name counts")
    func turns() throws {
        struct Turns: Encodable {
            enum Key: String, CodingKey { case b, a, c, d }

            func encode(to encoder: any Encoder) throws {
                var object = encoder.container(keyedBy: Key.self)
                var first = object.nestedContainer(keyedBy: Key.self, forKey: .b)
                var second = object.nestedUnkeyedContainer(forKey: .a)
                try first.encode(1, forKey: .b)
                try second.encode("x")
                try first.encode(2, forKey: .a)
                try second.encode(Float(0.1))
                try second.encodeNil()
                var third = second.nestedContainer(keyedBy: Key.self)
                try third.encode(1, forKey: .c)
                try third.encode(2, forKey: .c)
                try? object.encode(Double.nan, forKey: .c)
                var single = object.superEncoder().singleValueContainer()
                try single.encode("super")
                var again = object.nestedContainer(keyedBy: Key.self, forKey: .b)
                try again.encode(Empty(), forKey: .d)
            }
        }
        let json = try JSONWriter.bytes(of: Turns())
        #expect(try json == Array(FoundationJSON.encoder.encode(Turns())), "\(String(decoding: json, as: UTF8.self))")
    }

    private struct Empty: Encodable {
        func encode(to encoder: any Encoder) {}
    }

    @Test("What is not JSON is not encoded: infinities, years after 9999, nothing, and excessive depth")
    func refused() throws {
        #expect(throws: EncodingError.self) { try JSONWriter.bytes(of: [Double.infinity]) }
        #expect(throws: EncodingError.self) { try JSONWriter.bytes(of: [Date(timeIntervalSince1970: 1e15)]) }
        #expect(throws: EncodingError.self) { try JSONWriter.bytes(of: Empty()) }
        func nested(_ depth: Int) -> JSONValue { (0..<depth).reduce(.null) { value, _ in .array([value]) } }
        #expect(try JSONWriter.bytes(of: nested(511)) == Array(FoundationJSON.encoder.encode(nested(511))))
        #expect(throws: EncodingError.self) { try JSONWriter.bytes(of: nested(512)) }
        #expect(throws: EncodingError.self) { try FoundationJSON.encoder.encode(nested(512)) }
    }

    @Test("The time to read grows with the size of the text and not with its square")
    func large() throws {
        let members = (0..<100_000).map { "\"member\($0)\":[]" }.joined(separator: ",")
        let clock = ContinuousClock()
        let time = try clock.measure {
            let value = try JSONReader.decode([String: [JSONValue]].self, from: "{\(members)}".utf8)
            #expect(value.count == 100_000)
            let list = "[\(Array(repeating: "[]", count: 100_000).joined(separator: ","))]"
            #expect(try JSONReader.decode([JSONValue].self, from: list.utf8).count == 100_000)
        }
        #expect(time < .seconds(20))
    }
}

/// A record with members of all kinds.
private struct Record: Codable, Equatable {
    struct Part: Codable, Equatable {
        var text: String
        var number: Int?
        var times: [Date]
    }

    enum Color: String, Codable, CaseIterable { case red, green }

    var zeta: String
    var alpha: String?
    var flag: Bool
    var count: Int
    var small: UInt8?
    var ratio: Double
    var single: Float
    var color: Color?
    var parts: [Part]
    var named: [String: Part]
    var numbers: [Int: Bool]
    var any: JSONValue
    var members: [String: JSONValue]
    var data: Data?
    var link: URL?
    var amount: Decimal
    var pair: [[String?]]

    init<Generator>(_ random: inout RandomValues<Generator>) {
        func part(_ random: inout RandomValues<Generator>) -> Part {
            let times = (0..<random.number(in: 0...2)).map { _ in
                Date(milliseconds: Int64(random.number(in: -60_000_000_000_000...200_000_000_000_000)))
            }
            return Part(text: random.string(), number: random.chance(1, in: 2) ? random.whole() : nil, times: times)
        }
        zeta = random.string()
        alpha = random.chance(1, in: 2) ? random.string() : nil
        flag = random.chance(1, in: 2)
        count = random.whole()
        small = random.chance(1, in: 2) ? UInt8(random.number(in: 0...255)) : nil
        ratio = random.fraction()
        single = Float(random.number(in: -1000...1000)) / 8
        color = Color.allCases.randomElement(using: &random.generator)
        parts = (0..<random.number(in: 0...2)).map { _ in part(&random) }
        named = (0..<random.number(in: 0...3)).reduce(into: [:]) { all, _ in all[random.string()] = part(&random) }
        numbers = random.chance(1, in: 4) ? [random.number(in: 0...9): true] : [:]
        any = random.json()
        members = random.object(depth: 1)
        data = random.chance(1, in: 4) ? Data(random.string().utf8) : nil
        link = random.chance(1, in: 4) ? URL(string: "https://example.com/a/b?c=\(random.number(in: 0...9))") : nil
        amount = Decimal(random.number(in: -1_000_000...1_000_000)) / 64
        pair = random.chance(1, in: 4) ? [[nil, random.string()], []] : []
    }
}
