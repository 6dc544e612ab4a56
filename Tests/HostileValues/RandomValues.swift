package import Foundation
package import Support

/// Makes random strings and JSON values, many of which are unusual.
package struct RandomValues<Generator: RandomNumberGenerator> {
    package var generator: Generator

    package init(_ generator: Generator) {
        self.generator = generator
    }

    private static var pieces: [String] {
        [
            "", "a", "id", "playlist-1", "Ünïcödé", "日本語", "🎧", "e\u{301}", "\u{212A}", "\"", "\\", "/", "\n", "\t",
            "\r",
            "\u{8}", "\u{c}", "\u{0}", "\u{1}", "\u{1f}", "\u{7f}", "\u{2028}", "\u{FEFF}", "\u{10FFFF}", "\\u0041",
            "a string of more than fifteen bytes", "spotify:playlist:37i9dQZF1DX",
        ]
    }

    package mutating func string() -> String {
        (0..<number(in: 0...4)).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined()
    }

    package mutating func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    package mutating func chance(_ one: Int, in all: Int) -> Bool { number(in: 1...all) <= one }

    package mutating func whole() -> Int {
        let small = number(in: -20...20)
        return [small, .max, .min, 1 << 53, (1 << 53) + 1, 1_000_000_000_000_000_000].randomElement(using: &generator)
            ?? small
    }

    package mutating func fraction() -> Double {
        let bits = Double(bitPattern: generator.next())
        return [Double(whole()), 0.5, -0.0, 1e300, .leastNonzeroMagnitude, 0.1, bits.isFinite ? bits : 1].randomElement(
            using: &generator)
            ?? 0
    }

    /// A JSON value with at most `depth` levels.
    package mutating func json(depth: Int = 3) -> JSONValue {
        switch number(in: 0...(depth > 0 ? 8 : 6)) {
        case 0: return .null
        case 1: return .bool(chance(1, in: 2))
        case 2: return .integer(whole())
        case 3: return .number(fraction())
        case 4, 5, 6: return .string(string())
        case 7: return .array((0..<number(in: 0...4)).map { _ in json(depth: depth - 1) })
        default: return .object(object(depth: depth))
        }
    }

    /// An object with few members, or rarely with many.
    package mutating func object(depth: Int = 3) -> [String: JSONValue] {
        let count = chance(1, in: 50) ? 40 : number(in: 0...4)
        return (0..<count).reduce(into: [:]) { members, _ in members[string()] = json(depth: depth - 1) }
    }

    /// A text that differs from a JSON text in a few bytes.
    package mutating func changed(_ json: [UInt8]) -> [UInt8] {
        var json = json
        for _ in 0...number(in: 0...1) where !json.isEmpty {
            let index = number(in: 0...json.count - 1)
            let byte = Array(#"{}[],:"\0123456789.-+eEnulltruefalse u/"#.utf8).randomElement(using: &generator) ?? 0
            switch number(in: 0...3) {
            case 0: json.remove(at: index)
            case 1: json.insert(byte, at: index)
            case 2: json[index] = chance(1, in: 8) ? UInt8(truncatingIfNeeded: generator.next()) : byte
            default: json.removeLast(json.count - index)
            }
        }
        return json
    }
}

/// Foundation's coders with the options of the JSON in messages: ``JSONWriter`` writes the same bytes.
package enum FoundationJSON {
    package static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            guard Timestamp.canHold(date) else {
                throw EncodingError.invalidValue(date, EncodingError.Context(codingPath: [], debugDescription: "year"))
            }
            var container = encoder.singleValueContainer()
            try container.encode(Timestamp.text(of: date))
        }
        return encoder
    }

    package static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let date =
                if let seconds = try? container.decode(Double.self) {
                    Date(timeIntervalSinceReferenceDate: seconds)
                } else {
                    Timestamp.date(from: try container.decode(String.self))
                }
            guard let date, Timestamp.canHold(date) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected a time")
            }
            return date
        }
        return decoder
    }

    /// True if both decoders accept the JSON and give the same value, or both refuse it. Foundation's decoder accepts some
    /// texts that are not JSON: the result is also true if it alone accepts one of them.
    package static func agrees<Value: Decodable & Equatable>(_ type: Value.Type, on json: [UInt8]) -> Bool {
        let expected = try? decoder.decode(type, from: Data(json))
        let value = try? JSONReader.decode(type, from: json)
        return value == expected || value == nil && (try? JSONValue(parsing: Data(json))) == nil
    }
}
