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

    /// A flow with links of every kind.
    private static func everyKind() throws -> Flow {
        try Flow("tea", version: 1, platform: "ios", start: "menu") {
            Flow.Screen("menu")
            Flow.Screen("login")
            Flow.Screen("brewing", arguments: ["minutes": .init(.range(.integer, atLeast: 1, atMost: 60))])
            Flow.Screen("list")
            Flow.Screen("lost")
            Flow.Screen("terms", gate: true)
            Flow.Transition(on: "command.LogIn", do: [.setRoot("menu")])
            Flow.Transition(on: "command.Leave", do: [.setRoot("login")])
            Flow.Transition(
                on: "command.Brew", when: [.root("menu")],
                do: [.push(.screen("brewing", ["minutes": "${data.minutes}"]))])
            Flow.Transition(
                on: "command.List",
                do: [.setRoot(.screen("list", ["page": "${data.page}", "sorted": "${data.sorted}"]))])
            Flow.Transition(on: "event.Terms", do: [.present("terms", as: .sheet)])
            Flow.Transition(on: "event.Accepted", do: [.dismiss("terms")])
            Flow.Link(
                "tea://brew/{m:integer}", when: [.root("menu")],
                to: .init(root: "menu", path: [.screen("brewing", ["minutes": "${url.m}"])]),
                otherwise: .init(root: "login"), send: [.init("command.Load", ["minutes": "${url.m}"])])
            Flow.Link(
                "tea://list/{p?:integer}?sorted={s:boolean}",
                to: .init(root: .init(.screen("list", ["page": "${url.p:-1}", "sorted": "${url.s}"]))))
            Flow.Link("tea://stop", when: [.path("brewing")], action: true, send: [.init("command.Stop")])
            Flow.Link("tea://old/{m...}", redirect: "tea://brew/${url.m}")
            Flow.Link("tea://loop/{m}", when: [.root("menu")], redirect: "tea://loop/${url.m}")
            Flow.Link(
                "tea://{path...}", unless: [.root("login")],
                to: .init(root: .init(.screen("lost", ["path": "${url.path}"]))))
        }
    }

    private static func anyMessage(_ random: inout SeededGenerator, _ state: NavigationState) -> (String, JSONValue) {
        let numbers: [JSONValue] = [1, 5, "5", 60, 61, 0, 5.5, "05", .null, "x", true, 9_007_199_254_740_992]
        let texts = [
            "5", "05", "61", "-1", "", "..", "%2F", "a/b", "%zz", "1e3", String(repeating: "9", count: 300), "{m}",
        ]
        let text = texts.randomElement(using: &random) ?? ""
        let urls = [
            "tea://brew/\(text)", "tea://list/\(text)?sorted=true", "tea://list?sorted=\(text)", "tea://stop",
            "tea://old/\(text)", "tea://loop/\(text)", "tea://\(text)/x", "TEA://Nowhere/\(text)//y/../z",
            "tea:" + String(repeating: "/a", count: 300), "tea://brew/5", "tea://brew/7", "tea://old/9",
        ]
        let number = numbers.randomElement(using: &random) ?? 1
        let messages: [(String, JSONValue)] = [
            ("command.LogIn", [:]), ("command.LogIn", [:]), ("command.LogIn", [:]), ("command.Leave", [:]),
            ("command.Brew", ["minutes": number]),
            ("command.List", ["page": number, "sorted": numbers.randomElement(using: &random) ?? true]),
            ("event.Terms", [:]), ("event.Accepted", [:]),
            ("command.BackCompleted", ["instance": .string(state.top.id)]),
            ("event.DeepLinkReceived", ["url": .string(urls.randomElement(using: &random) ?? "")]),
        ]
        return messages[
            Bool.random(using: &random) ? messages.count - 1 : Int.random(in: 0..<messages.count, using: &random)]
    }

    @Test("Links of every kind are accounted for once, and the URL of a state leads to it", arguments: 0..<30)
    func everyKind(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var machine = Machine(flow: try Self.everyKind())
        var gone = Set<String>()
        var (urls, sent) = (Set<String>(), 0)
        for step in 0..<Self.steps {
            let (type, data) = Self.anyMessage(&random, machine.state)
            let input = Machine.Input(
                id: "m\(step)", type: type, data: data, attributes: Machine.Attributes(time: step * 60_000))
            let effects = machine.handle(input)
            for id in effects.discarded { #expect(gone.insert(id).inserted) }
            sent += effects.sent.count
            #expect(Restoration(machine.snapshot, flow: machine.flow).machine == machine)
            guard let url = machine.snapshot.url else { continue }
            urls.insert(url)
            var probe = machine
            let again = Machine.Input(id: "p\(step)", type: "event.DeepLinkReceived", data: ["url": .string(url)])
            let probed = probe.handle(again)
            #expect(
                probed.sent.isEmpty && probed.dismissals.isEmpty && probe.state.open == machine.state.open, "\(url)")
        }
        #expect(urls.count > 3 && sent > 0)
    }
}
