import FlowExploration
import FlowFiles
import FlowReview
import Foundation
import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Scenarios that an exploration writes")
struct ScenarioSuiteTests {
    private static let flows = [
        "config/flows/ios.yaml", "config/flows/mac.yaml", "Tests/Fixtures/FlowDrawings/shop.yaml",
    ]

    private static func scenarios(of flow: Flow) throws -> [Scenario] {
        var explorer = FlowExplorer([flow], hasOthers: true, limit: 300)
        explorer.explore()
        return try explorer.scenarios(in: 0).stories.map { story in
            try Scenario(yaml: story.text, file: "story.yaml", flow: flow)
        }
    }

    private static func cover(_ scenarios: [Scenario], of flow: Flow) -> RuleCover {
        let flow = flow.tellingRules
        var cover = RuleCover(of: flow)
        for scenario in scenarios {
            for outcome in scenario.play(on: flow, keepsGoing: true) { cover.add(applied: outcome.applied) }
        }
        return cover
    }

    private static func passes(_ scenarios: [Scenario], _ flow: Flow) -> Bool {
        scenarios.allSatisfy { $0.play(on: flow).allSatisfy { $0.failures.isEmpty } }
    }

    @Test("They pass, together take each rule that can be taken, and none can be left out", arguments: flows)
    func cover(path: String) throws {
        let text = try String(contentsOfFile: Repository.path(path), encoding: .utf8)
        let flow = try Flow(yaml: text, file: path)
        let scenarios = try Self.scenarios(of: flow)
        for scenario in scenarios {
            let failures = scenario.play(on: flow, keepsGoing: true).flatMap(\.failures)
            #expect(failures.isEmpty, "\(failures.flatMap { $0.lines(in: "story.yaml") })")
        }
        let missing = Self.cover(scenarios, of: flow).missing
        #expect(missing == [])
        for index in scenarios.indices {
            var others = scenarios
            others.remove(at: index)
            #expect(Self.cover(others, of: flow).missing != [])
        }
    }

    @Test("A rule, its guard and a link are counted; those that nothing takes are named in the order of the flow")
    func counts() throws {
        let flow = try Flow(
            yaml: """
                name: shop
                version: 1
                platform: ios
                start: a
                screens: { a: { sends: [command.X, command.Y] }, b: }
                transitions:
                  - on: command.X
                    guard: { accept: event.Good, reject: event.Bad, deadline: 5s, rejected: [{ openURL: "https://x.example" }] }
                    do: [{ push: b }]
                  - { on: command.Y, do: [{ setRoot: b }] }
                links:
                  - { url: "shop://b", to: { root: b } }
                """, file: "shop.yaml")
        #expect(
            RuleCover(of: flow).missing == [
                "transitions[0]", "transitions[0].guard.rejected", "transitions[1]", "links[0]",
            ])
        let scenario = try Scenario(
            yaml: """
                - send: { type: command.X, from: a }
                - send: { type: event.Bad, causedBy: command.X }
                - send: { type: event.DeepLinkReceived, data: { url: "shop://b" }, platform: ios }
                """, file: "story.yaml", flow: flow)
        let cover = Self.cover([scenario], of: flow)
        #expect(cover.missing == ["transitions[0]", "transitions[1]"])
        #expect(cover.percent == 50)
    }

    @Test("A mistake in a flow is found by a scenario, or changes nothing", arguments: ["ios", "mac"])
    func mutants(platform: String) throws {
        let flow = try ShippedFlows.flow(platform)
        var explorer = FlowExplorer([flow], hasOthers: true, limit: 300)
        explorer.explore()
        var search = try MutantSearch(explorer.scenarios(in: 0).stories, explorer)
        let mutants = FlowMutant.some(of: flow, count: 12, seed: 1)
        for mutant in mutants { try search.add(mutant) }
        #expect(mutants.count == 12 && search.missed.isEmpty, "\(search.missed.map(\.rule))")
        #expect(search.foundCount + search.equalCount == 12 && search.foundCount > 6, "\(search.equalCount) are equal")
        let scenarios = try search.stories.map { try Scenario(yaml: $0.text, file: "story.yaml", flow: flow) }
        #expect(Self.passes(scenarios, flow))
    }

    @Test("Mistakes of all kinds are made, and one seed selects the same ones")
    func selection() throws {
        let flow = try ShippedFlows.flow("ios")
        let all = FlowMutant.some(of: flow, count: .max, seed: 1)
        #expect(Set(all.map(\.kind)).count == FlowMutant.Kind.allCases.count)
        func names(_ seed: Int) -> [String] {
            FlowMutant.some(of: flow, count: 20, seed: seed).map { "\($0.rule) \($0.kind.rawValue)" }
        }
        #expect(names(1) == names(1) && names(1) != names(2))
    }

    @Test("A mistake that no user can notice is equal, and one that no scenario shows yet gets a scenario")
    func equal() throws {
        let flow = try Flow.small(
            screens: "  a: { sends: [command.X] }\n  b:",
            "  - { on: command.X, when: { top: a, root: a }, do: [{ push: b }] }")
        var explorer = FlowExplorer([flow])
        explorer.explore()
        var search = try MutantSearch([], explorer)
        let mutants = FlowMutant.some(of: flow, count: 100, seed: 0)
        for mutant in mutants { try search.add(mutant) }
        #expect(search.missed.isEmpty && search.equalCount == 2 && search.foundCount == mutants.count - 2)
        #expect(search.stories.count == 1)
    }
}
