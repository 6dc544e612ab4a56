import Navigation
import SeededRandom
import Testing

@Suite("Rules that are said never to apply never do, whatever is done")
struct FlowReviewHistoryTests {
    /// Two rules on one message, and others that lead through all kinds of states.
    private static func flow(_ random: inout SeededGenerator) throws -> Flow {
        let rivals = ["command.First", "command.Second"].map { type in
            Flow.Transition(
                on: "event.A", where: fields(&random), when: conditions(&random), unless: conditions(&random),
                do: [.send(type)])
        }
        return try Flow("rivals", version: 1, platform: "any", start: "a") {
            for name in ["a", "b", "c"] { Flow.Screen(name) }
            for rival in rivals { rival }
            for (number, actions) in steps.enumerated() {
                Flow.Transition(on: "event.Go", where: ["step": .value(.integer(number))], do: actions)
            }
        }
    }

    private static let steps: [[Flow.Action]] = [
        [.push("a")], [.push("b")], [.push("c")], [.pop], [.popToRoot], [.present("a", as: .sheet)],
        [.present("b", as: .popover)], [.dismiss(nil)], [.setRoot("a")], [.setRoot("c", container: .tabs(["a", "b"]))],
        [.setRoot("b", container: .split), .show("c", column: "x")], [.selectTab("b")],
    ]

    private static let matches: [Flow.Match] = [
        1, [1, 2], 3, .not(1), .not(1, 2), .exists(true), .exists(false), .atLeast(2), .atMost(2), .atMost(3),
        Flow.Match(atLeast: 1, atMost: 2), Flow.Match(anyOf: [1, 3], noneOf: [3]),
        Flow.Match(exists: false, atLeast: 1),
    ]

    private static func fields(_ random: inout SeededGenerator) -> [String: Flow.Match] {
        matches.randomElement(using: &random).map { random.chance(3, in: 4) ? ["n": $0] : [:] } ?? [:]
    }

    private static func conditions(_ random: inout SeededGenerator) -> [Flow.Condition] {
        let places: [Flow.Condition.Place] = [.root, .top, .path, .presented, .shown]
        guard random.chance(1, in: 3), let place = places.randomElement(using: &random) else { return [] }
        let mayBeEmpty = [.path, .presented].contains(place)
        let count = Int.random(in: (mayBeEmpty ? 0 : 1)...2, using: &random)
        return [Flow.Condition(place, ["a", "b", "c"].shuffled(using: &random).prefix(count).map { .screen($0) })]
    }

    @Test("Of a thousand pairs of rules", arguments: [1, 2])
    func neverApplies(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (never, applied) = (0, 0)
        for _ in 0..<500 {
            let flow = try Self.flow(&random)
            let said = flow.review().filter { $0.message.contains("the rule never applies") }
            let idle = ["First", "Second"].enumerated().filter { number, _ in
                said.contains { $0.message.hasPrefix("transitions[\(number)]") }
            }.map { "command.\($0.element)" }
            never += idle.count
            var session = Session(flow)
            for _ in 0..<20 {
                let step = Int.random(in: 0..<Self.steps.count, using: &random)
                session.send("event.Go", ["step": .integer(step)])
                let number = Int.random(in: 0...4, using: &random)
                for case .send(let type, _) in session.send("event.A", number == 0 ? [:] : ["n": .integer(number)]) {
                    #expect(!idle.contains(type), "\(flow.json)")
                    applied += 1
                }
            }
        }
        // Neither is said of all rules, nor of none.
        #expect(never > 30)
        #expect(applied > 500)
    }
}
