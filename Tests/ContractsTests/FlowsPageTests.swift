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

    @Test("The flow in Swift equals the first flow of the page")
    func built() throws {
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

    @Test("The samples do what the page says")
    func story() throws {
        let flow = try Flow(yaml: page.wholeShop, file: "shop.yaml")
        let scenario = try Scenario(yaml: Self.story, file: "story.yaml", flow: flow)
        let outcomes = scenario.play(on: flow)
        #expect(outcomes.count == scenario.steps.count)
        #expect(outcomes.flatMap(\.failures).flatMap { $0.lines(in: "story.yaml") } == [])
    }

    private static let story = """
        - send: { type: event.DeepLinkReceived, data: { url: "https://shop.example/items/7" }, platform: ios }
          expect: { path: { screen: item, arguments: { itemID: "7", pieces: 1 } } }
        - send: { type: command.CartRequested, from: item }
          expect: { path: [item, cart] }
        - send: { type: command.CheckoutRequested, data: { total: 120, country: de, cartID: c1 }, from: cart }
          expect: { path: [item, cart, { screen: payment, arguments: { cartID: c1 } }] }
        - send: { type: command.OrderPlaced, data: { cartID: c1 }, from: payment }
          expect: { attempt: command.OrderPlaced, sent: { type: command.StoreOrder, data: { cartID: c1 } } }
        - expire:
          expect: { attempt: [], presented: late, discarded: "" }
        - answer: retry
          expect: { presented: [], dismissed: late, sent: command.OrderPlaced }
        - send: { type: command.OrderPlaced, data: { cartID: c1 }, from: late }
          expect: { attempt: command.OrderPlaced, sent: command.StoreOrder }
        - send: { type: event.OrderAccepted, data: { number: 9 }, causedBy: command.StoreOrder }
          expect: { attempt: [], path: [item, cart, payment, { screen: receipt, arguments: { number: 9 } }] }
        - back
        - back: payment
          expect:
            path: [item, cart]
            dismissed: payment
            sent: { type: command.PaymentCancelled, data: { cartID: c1 } }
        - send: command.SignUpRequested
          expect: { presented: credentials, runs: signUp }
        - send: event.CodeSent
          expect: { presented: { screen: credentials, path: code } }
        - send: { type: event.SignedUp, data: { userID: u1 } }
          expect:
            presented: []
            runs: []
            path: [item, cart, { screen: account, arguments: { userID: u1 } }]
            leaving: [code, credentials]
            dismissed: [code, credentials]
        - send: { type: command.DeleteRequested, data: { itemID: 5, name: Hat } }
        - answer: delete
        - send: command.FilterRequested
        - send: command.FilterChosen
          includes: { presented: [] }
        - send: event.LoggedIn
          includes: { tab: list }
        - send: command.AccountRequested
          expect: { tab: me, tabs: { list: list, me: account } }
        - send: { type: event.DeepLinkReceived, data: { url: "shop://item/5" }, platform: ios }
          includes: { root: logIn, parked: "shop://item/5" }
        """

    @Test("The page has at most 2,200 words")
    func length() {
        #expect(text.split(whereSeparator: \.isWhitespace).count <= 2200)
    }
}
