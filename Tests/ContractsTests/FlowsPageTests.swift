import FlowFiles
import FlowReview
import Foundation
import Navigation
import SampleFlows
import TestSupport
import Testing

@Suite("Samples of docs/flows.md")
struct FlowsPageTests {
    private let text: String
    private let page: FlowsPage

    init() throws {
        text = try String(contentsOfFile: Repository.path("docs/flows.md"), encoding: .utf8)
        page = FlowsPage(text: text)
    }

    @Test("The flow in Swift is compiled here, and equals the first flow of the page")
    func built() throws {
        let source = try String(
            contentsOfFile: Repository.path("Tests/ContractsTests/FlowsPageFlow.swift"), encoding: .utf8)
        let code = try #require(source.split(separator: "\n\n", maxSplits: 1).last)
        #expect(text.contains("```swift\n\(code)```\n"))
        #expect(try shop() == Flow(yaml: page.shop, file: "shop.yaml"))
    }

    @Test("The first flow has no findings, and the scenario of the page passes")
    func scenario() throws {
        let reading = FlowReading(yaml: page.shop, file: "shop.yaml")
        #expect(reading.review().findings == [])
        let flow = try #require(reading.flow)
        let scenario = try Scenario(yaml: page.scenario, file: "story.yaml", flow: flow)
        let outcomes = scenario.play(on: flow)
        #expect(outcomes.count == scenario.steps.count && outcomes.flatMap(\.failures).isEmpty)
    }

    @Test("All samples together are a flow")
    func whole() {
        // The samples do not say which screens send their commands, and what comes before some screens.
        let expected: Set<FlowFinding.Code?> = [.unsentCommand, .unreached, .actionLink]
        let findings = FlowReading(yaml: page.wholeShop, file: "shop.yaml").review().findings
        #expect(findings.filter { !expected.contains($0.code) } == [])
    }

    @Test("The page has at most 2,200 words")
    func length() {
        #expect(text.split(whereSeparator: \.isWhitespace).count <= 2200)
    }
}
