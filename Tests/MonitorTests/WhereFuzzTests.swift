import EventBus
import Monitor
import SeededRandom
import Testing

@Suite("Whatever somebody writes as a where-expression")
struct WhereFuzzTests {
    private static let pieces = [
        "kind", "type", "data", "data.x", "data.a[0].b", "time", "position.offset", "==", "!=", "<", "<=", ">", ">=",
        "=", "contains", "matches", "in", "exists", "and", "or", "not", "&&", "||", "!", "(", ")", "[", "]", ",", "\"",
        "'", "\\", "\"t\"", "'t'", "null", "true", "1", "-2.5e3", "1e999", "event", "*", "?", ".", "é", "集", "\u{0}",
        "\n", "👩‍👩‍👧", "\u{301}", "2026-03-01T12:00:00Z",
    ]

    @Test("is an expression that says yes or no, or a mistake with a column in it", arguments: 0..<8)
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

    /// Pieces in any order, or tests that are nearly right.
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
