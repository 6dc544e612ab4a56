import Navigation
import Testing

@Suite("A review that knows the app's services finds commands that nobody handles, and outcomes that nobody hears")
struct FlowReviewServicesTests {
    /// A shop that packs and a store that saves; a clerk listens to what is packed; the post has to do with neither.
    private static let catalogue = MessageCatalogue(
        [
            "command.ItemSelected": [], "command.Buy": [], "command.Help": [], "event.Saved": [], "event.Sold": [],
            "event.Packed": [], "event.Refused": nil, "event.Delivered": [], "error.Broken": [],
        ],
        services: [
            "clerk": .init(receives: ["event.Packed"]), "post": .init(receives: [], outcomes: ["event.Delivered"]),
            "shop": .init(receives: ["command.Buy"], outcomes: ["event.Sold", "event.Packed", "error.Broken"]),
            "store": .init(receives: [], outcomes: ["event.Saved", "event.Refused"]),
        ])

    private func findings(
        sends: String = "command.ItemSelected, command.Buy", on: String = "event.Saved", ignores: String = "",
        _ catalogue: MessageCatalogue = Self.catalogue
    ) -> [String] {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: list
            ignores: [\(ignores)]
            screens:
              list: { sends: [\(sends)] }
            transitions:
              - { on: command.ItemSelected, do: [{ push: list }] }
              - { on: \(on), where: { anything: 1 }, do: [{ openURL: "a:b" }] }
            """
        return Flow.review(yaml: yaml, file: "shop.yaml", messages: catalogue).findings.map(\.description)
            .filter { !$0.contains("has no field") }
    }

    @Test("A command is handled by a service or a rule, else that is a warning; without services nothing is said")
    func unserved() {
        let all = "event.Sold, error.Broken, event.Refused"
        #expect(findings(ignores: all) == [])
        #expect(
            findings(sends: "command.ItemSelected, command.Buy, command.Help", ignores: all) == [
                "shop.yaml:7:11: warning: nobody handles 'command.Help': no service and no rule; add one"
            ])
        let plain = MessageCatalogue(Self.catalogue.fields)
        #expect(findings(sends: "command.ItemSelected, command.Help", plain) == [])
    }

    @Test("What a service tells that the flow talks to, or listens to, is answered, ignored, or a note")
    func outcomes() {
        let advice = "add one, or name it under 'ignores'"
        #expect(
            findings() == [
                "shop.yaml:8:1: note: no rule answers 'error.Broken' of shop; \(advice)",
                "shop.yaml:8:1: note: no rule answers 'event.Sold' of shop; \(advice)",
                "shop.yaml:8:1: note: no rule answers 'event.Refused' of store; \(advice)",
            ])
        #expect(findings(on: "event.Refused", ignores: "event.Saved, event.Sold, error.Broken") == [])
    }

    @Test("What is ignored without need is a warning; what is no event or error cannot be ignored")
    func ignored() {
        let all = "event.Sold, error.Broken, event.Refused"
        #expect(
            findings(ignores: "\(all), event.Slod") == [
                "shop.yaml:5:1: warning: no service sends 'event.Slod'; did you mean 'event.Sold'?"
            ])
        #expect(
            findings(ignores: "command.Buy").first
                == "shop.yaml:5:1: 'command.Buy' is not the type of an event or error; write event.NAME")
    }

    @Test("Ignoring is part of a flow, and survives being written")
    func written() throws {
        let flow = try Flow(
            "shop", version: 1, platform: "ios", start: "list", ignores: ["event.B", "error.A", "event.B"]
        ) { Flow.Screen("list") }
        #expect(flow.ignores == ["error.A", "event.B"])
        #expect(try Flow(yaml: flow.yaml, file: "shop.yaml") == flow)
        let other = try Flow("shop", version: 1, platform: "ios", start: "list") { Flow.Screen("list") }
        #expect(other.hash != flow.hash)
    }
}
