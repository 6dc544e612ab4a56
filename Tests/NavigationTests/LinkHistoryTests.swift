import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Random histories with deep links")
struct LinkHistoryTests {
    private static let steps = 120

    /// Generates random messages for a shop, among them links in many spellings.
    private struct Shopper {
        var random: SeededGenerator
        var count = 0
        var time = 0

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
        }

        mutating func next(for state: NavigationState) -> Machine.Input {
            count += 1
            time += Int.random(in: 0...200_000, using: &random)
            let (type, data) = Int.random(in: 0..<3, using: &random) == 0 ? link() : message(state)
            return Machine.Input(id: "m\(count)", type: type, data: data, attributes: Machine.Attributes(time: time))
        }

        mutating func link() -> (String, JSONValue) {
            let id = ["7", "8", "a%2fb", "%C3%BC", "ü", "%37", "x y"].randomElement(using: &random) ?? ""
            let colour =
                ["", "?colour=red", "?utm=1&colour=%62lue&colour=no", "?colour", "#top"]
                .randomElement(using: &random) ?? ""
            let urls = [
                "shop://item/\(id)\(colour)", "SHOP://Item/\(id)/\(colour)", "shop://item/\(id)/review/1",
                "shop://item/x/../\(id)/review/%32", "shop://settings", "shop://list/", "shop://nowhere",
            ]
            return ("event.DeepLinkReceived", ["url": .string(urls.randomElement(using: &random) ?? "")])
        }

        private mutating func message(_ state: NavigationState) -> (String, JSONValue) {
            let top: JSONValue = ["instance": .string(state.top.id), "button": "ok"]
            let messages: [(String, JSONValue)] = [
                ("event.LaunchFinished", [:]), ("event.Locked", [:]), ("event.SheetNeeded", [:]),
                ("event.PopoverNeeded", [:]), ("event.TermsChanged", [:]), ("event.TermsAccepted", [:]),
                ("event.Asked", [:]), ("command.ItemSelected", ["itemID": 7]),
                ("command.ItemSelected", ["itemID": "ü"]),
                ("command.ReviewSelected", ["number": 1]), ("command.BackCompleted", top),
                ("command.PresentationDismissed", top), ("command.AlertAnswered", top),
            ]
            return messages.randomElement(using: &random) ?? ("", [:])
        }
    }

    /// A URL in the form in which the flow writes it.
    private func normalised(_ url: String, _ flow: Flow) throws -> String? {
        for link in flow.links {
            let pattern = try URLPattern(link.url)
            if let values = pattern.values(in: url) { return pattern.url(with: values) }
        }
        return nil
    }

    @Test(
        "Every link is followed, parked or discarded once, and the resulting state has its URL", arguments: 0..<30)
    func accounted(seed: UInt64) throws {
        var machine = Machine(flow: try LinkFlow.flow(over: [.popover: .refuse, .sheet: .wait]))
        var shopper = Shopper(seed: seed)
        var gone = Set<String>()
        var followed = 0
        for _ in 0..<Self.steps {
            let before = machine
            let input = shopper.next(for: machine.state)
            let effects = machine.handle(input)
            for id in effects.discarded { #expect(gone.insert(id).inserted) }
            #expect(machine.revision == before.revision + (machine.state == before.state ? 0 : 1))

            let isLink = input.type == "event.DeepLinkReceived"
            let url = isLink ? input.data["url"]?.stringValue ?? "" : before.state.parked?.url ?? ""
            let id = isLink ? input.id : before.state.parked?.messageID
            if let id, machine.state.parked?.messageID != id, !effects.discarded.contains(id) {
                #expect(machine.snapshot.url != nil)
                #expect(try machine.snapshot.url == normalised(url, machine.flow))
                followed += 1
            }
            if let parked = before.state.parked, machine.state.parked != parked, isLink {
                #expect(effects.discarded.contains(parked.messageID))
            }
            if let parked = machine.state.parked { #expect(parked.expires > input.attributes.time ?? 0) }
        }
        #expect(followed > 0)
    }

    @Test("A link to the URL of the current state changes nothing", arguments: 0..<30)
    func fixedPoint(seed: UInt64) throws {
        var machine = Machine(flow: try LinkFlow.flow())
        var shopper = Shopper(seed: seed)
        var count = 0
        for _ in 0..<Self.steps {
            _ = machine.handle(shopper.next(for: machine.state))
            guard let url = machine.snapshot.url else { continue }
            count += 1
            var probe = machine
            let input = Machine.Input(
                id: "probe", type: "event.DeepLinkReceived", data: ["url": .string(url)],
                attributes: Machine.Attributes(time: shopper.time))
            let effects = probe.handle(input)
            #expect(effects.sent.isEmpty && effects.dismissals.isEmpty)
            #expect(probe.state.open == machine.state.open)
        }
        #expect(count > 0)
    }

    @Test("A link leads to the same screens from every state that admits it", arguments: 0..<30)
    func fromAnywhere(seed: UInt64) throws {
        let flow = try LinkFlow.flow(over: [.alert: .dismiss])
        var machine = Machine(flow: flow)
        var shopper = Shopper(seed: seed)
        for step in 0..<Self.steps {
            _ = machine.handle(shopper.next(for: machine.state))
            var probe = machine
            let input = Machine.Input(id: "l\(step)", type: "event.DeepLinkReceived", data: shopper.link().1)
            let effects = probe.handle(input)
            guard effects.discarded.isEmpty, probe.state.parked == nil else { continue }
            var fresh = Machine(flow: flow)
            _ = fresh.handle(Machine.Input(id: "a", type: "event.LaunchFinished"))
            _ = fresh.handle(input)
            #expect(probe.state.open.map(\.screen) == fresh.state.open.map(\.screen))
            #expect(probe.snapshot.url == fresh.snapshot.url)
        }
    }
}
