import FlowExploration
import FlowFiles
import FlowReview
import Navigation
import Testing

@Suite("Events as answers of services")
struct ServiceAnswerTests {
    /// A service whose handlers send what `answers` says, and that sends `others` on its own.
    private static func service(_ answers: [String: Set<String>], others: Set<String> = []) -> MessageCatalogue.Service
    {
        let sent = answers.values.reduce(others) { $0.union($1) }
        return MessageCatalogue.Service(receives: Set(answers.keys), outcomes: sent, sends: sent, answers: answers)
    }

    private static let shop = service(["command.Pay": ["event.Paid"]])
    private static let app = MessageCatalogue.Service(sends: ["event.LaunchFinished", "command.Pay", "command.X"])

    private func explorer(
        _ screens: String, _ rules: String, _ services: [MessageCatalogue.Service] = [shop], hasOthers: Bool = false,
        rest: String = "", limit: Int = 1000
    ) throws -> FlowExplorer {
        let named = services.enumerated().map { ("service\($0)", $1) } + [("app", Self.app)]
        let flow = try Flow.small(screens: screens, rules, rest: rest)
        let messages = MessageCatalogue([:], services: Dictionary(uniqueKeysWithValues: named))
        var explorer = FlowExplorer([flow], messages: messages, hasOthers: hasOthers, limit: limit)
        explorer.explore()
        return explorer
    }

    /// The findings as lines: the place, and the steps of the story.
    private func lines(_ explorer: FlowExplorer) -> [String] {
        explorer.findings(in: 0).map { found in
            ([found.problem.keyPath] + (found.story?.steps ?? [])).joined(separator: " ")
        }
    }

    private static let screens = """
          a: { sends: [command.X] }
          b: { sends: [command.Pay] }
          c:
          d:
        """

    /// Only an event that comes at any time leads to `c`.
    private static let early = """
          - { on: command.X, when: { root: a }, do: [{ setRoot: b }] }
          - { on: event.Paid, when: { root: a }, do: [{ setRoot: c }] }
          - { on: event.Paid, when: { root: b }, do: [{ setRoot: d }] }
        """

    @Test("An event does not come before the command that it answers")
    func before() throws {
        let found = try explorer(Self.screens, Self.early)
        #expect(lines(found) == ["screens.c", "transitions[1]"])
        #expect(found.findings(in: 0).allSatisfy { $0.problem.severity == .warning })
        #expect(found.exploration.events == .answers(["event.Paid"], free: []))
    }

    @Test("An event that a service receives and nothing sends does not come")
    func unsent() throws {
        var audit = Self.service(["command.Pay": []])
        audit.receives.insert("event.Paid")
        let found = try explorer(Self.screens, Self.early, [audit])
        #expect(lines(found).contains("screens.d"))
        #expect(found.exploration.events == .answers(["event.Paid"], free: []))
    }

    @Test("A root whose commands services handle is where an app may stay")
    func home() throws {
        let rules = "  - { on: command.X, when: { root: a }, do: [{ setRoot: b }] }"
        let screens = "  a: { sends: [command.X] }\n  b: { sends: [command.Pay] }"
        #expect(lines(try explorer(screens, rules)) == [])
        #expect(lines(try explorer(screens, rules, [])).count == 1)
    }

    @Test("It comes too early, so a root without commands that waits for it stays")
    func tooEarly() throws {
        let found = try explorer(
            "  a: { sends: [command.X] }\n  b: { sends: [command.Y] }\n  loading:\n  d:",
            """
              - { on: command.X, when: { top: a }, do: [{ push: b }] }
              - { on: command.Y, when: { top: b }, do: [{ setRoot: loading }] }
              - { on: event.Paid, when: { root: loading }, do: [{ setRoot: d }] }
            """, [Self.service(["command.X": ["event.Paid"]])])
        #expect(lines(found).count == 1)
        #expect(lines(found).first?.hasPrefix("screens.loading ") == true, "\(lines(found))")
        #expect(found.findings(in: 0).first?.problem.message.contains("unless 'event.Paid' comes again") == true)
    }

    @Test("An answer has the platform of the command that it answers, so a rule may never see its own")
    func origins() throws {
        let ios = try Flow.small(
            "ios", screens: "  a: { sends: [command.Pay] }\n  b: { sends: [command.Pay] }",
            "  - { on: event.Paid, when: { root: a }, do: [{ setRoot: b }] }")
        func unused(_ origin: String, macSends sent: String) throws -> [String] {
            let mac = try Flow.small(
                "mac", screens: "  a: { sends: [\(sent)] }\n  b:",
                "  - { on: event.Paid, \(origin)when: { root: a }, do: [{ setRoot: b }] }")
            var explorer = FlowExplorer(
                [ios, mac], messages: MessageCatalogue([:], services: ["shop": Self.shop, "app": Self.app]))
            explorer.explore()
            return explorer.findings(in: 1).filter { $0.problem.code == .neverApplies }.map(\.problem.keyPath)
        }
        #expect(try unused("origin: own, ", macSends: "command.X") == ["transitions[0]"])
        #expect(try unused("origin: own, ", macSends: "command.Pay") == [])
        #expect(try unused("", macSends: "command.X") == [])
    }

    @Test("It comes late, on another screen, and more than once")
    func late() throws {
        let late = """
              - { on: command.X, when: { top: a }, do: [{ push: b }] }
              - { on: event.Paid, when: { top: a }, do: [{ push: c }] }
            """

        #expect(lines(try explorer(Self.screens.replacing("d:", with: ""), late)) == [])
        let twice = """
              - { on: command.X, when: { root: a }, do: [{ setRoot: b }] }
              - { on: event.Paid, when: { top: b }, do: [{ push: c }] }
              - { on: event.Paid, when: { top: c }, do: [{ setRoot: a }] }
            """

        #expect(lines(try explorer(Self.screens.replacing("d:", with: ""), twice)) == [])
    }

    private static let waiting = (
        screens: "  a: { sends: [command.Pay] }\n  wait:\n  hint:",
        rules: """
          - { on: command.Pay, when: { top: a }, do: [{ present: { screen: wait, style: fullScreen } }] }
          - { on: event.Paid, when: { top: wait }, do: [{ dismiss: wait }] }
          - on: event.Tick
            when: { top: wait }
            do: [{ present: { screen: hint, style: alert, title: Hi, buttons: [{ id: ok, title: OK }] } }]
        """
    )
    private static let clock = MessageCatalogue.Service(outcomes: ["event.Tick"])

    @Test("A screen that waits for an event that has come while an alert covered it is a dead end")
    func missed() throws {
        let services = [Self.shop, Self.clock]
        for hasOthers in [false, true] {
            let found = try explorer(Self.waiting.screens, Self.waiting.rules, services, hasOthers: hasOthers)
            #expect(found.exploration.events == .answers(["event.Paid"], free: ["event.Tick"]))
            #expect(
                lines(found) == [
                    "screens.wait - send: { type: command.Pay, from: a } - send: event.Tick - send: event.Paid"
                ])
            let problem = found.findings(in: 0).first?.problem
            #expect(problem?.code == .deadEnd && problem?.severity == .warning)
            #expect(problem?.message.contains("'wait', unless 'event.Paid' comes again") == true, "\(problem as Any)")
        }
        let unknown = try explorer(Self.waiting.screens, Self.waiting.rules, [Self.clock])
        #expect(lines(unknown) == [])
        #expect(unknown.exploration.events == .unknown)
    }

    @Test("What follows from the command of a screen is a way on")
    func retry() throws {
        let screens = Self.waiting.screens.replacing("wait:", with: "wait: { sends: [command.Pay] }")
        #expect(lines(try explorer(screens, Self.waiting.rules, [Self.shop, Self.clock])) == [])
    }

    @Test("A question that no handler answers waits for its deadline")
    func questions() throws {
        let rules = """
              - { on: command.X, when: { top: a }, guard: { ask: command.Check, accept: event.Good, deadline: 5s }, do: [{ push: b }] }
              - { on: command.X, when: { top: b }, do: [{ push: c }] }
              - { on: event.Good, when: { top: a }, do: [{ push: b }] }
              - { on: event.Good, when: { top: b }, do: [{ push: d }] }
            """
        func found(_ services: MessageCatalogue.Service...) throws -> [String] {
            lines(try explorer(Self.screens.replacing("Pay", with: "X"), rules, services))
        }
        let others = Self.service(["command.Other": ["event.Good"]])
        let mute = Self.service(["command.Check": ["event.Bad"]])
        #expect(try found(Self.service(["command.Check": ["event.Good"]])) == [])
        #expect(
            try found(others, MessageCatalogue.Service(receives: ["command.Check"])).first == "transitions[0].guard")
        #expect(try found(mute, MessageCatalogue.Service(outcomes: ["event.Good"])) == [], "it comes at any time")
        let silent = try explorer(Self.screens.replacing("Pay", with: "X"), rules, [others, mute])
        let message = silent.findings(in: 0).first?.problem.message ?? ""
        #expect(
            message.hasPrefix("no service answers 'command.Check' with 'event.Good', so only the deadline ends this"))
        #expect(!lines(silent).contains { $0.hasPrefix("transitions[0].do") }, "the reason is told once")
    }

    @Test(
        "An event comes at any time if a service sends it on its own or because of something that is not seen",
        arguments: [
            [service(["command.Pay": ["event.Paid"]]), MessageCatalogue.Service(outcomes: ["event.Paid"])],
            [service(["command.Pay": []], others: ["event.Paid"])],
            [service(["command.Pay": ["event.Paid"], "event.ScreenDismissed": ["event.Paid"]])],
            [service(["command.Unknown": ["event.Paid"]])],
            [service(["command.Later": ["event.Paid"]]), service([:], others: ["command.Later"])],
            [MessageCatalogue.Service(outcomes: ["event.Paid"])],
        ])
    func free(services: [MessageCatalogue.Service]) throws {
        #expect(lines(try explorer(Self.screens, Self.early, services)) == [])
    }

    @Test("An answer is also what follows from the messages that a handler sends, also in circles")
    func chains() throws {
        let services = [
            Self.service(["command.Pay": ["command.Charge"], "event.Paid": ["event.Paid"]]),
            Self.service([
                "command.Charge": ["document.Account"], "document.Account": ["command.Charge", "event.Paid"],
            ]),
        ]
        let found = try explorer(Self.screens, Self.early, services)
        #expect(found.exploration.events == .answers(["event.Paid"], free: []))
        #expect(lines(found) == ["screens.c", "transitions[1]"])
    }

    @Test("Another platform gets answers at any time; the end of an earlier session has some, too")
    func others() throws {
        #expect(lines(try explorer(Self.screens, Self.early, hasOthers: true)) == [])
        let own = Self.early.replacing("on: event.Paid,", with: "on: event.Paid, origin: own,")

        #expect(lines(try explorer(Self.screens, own, hasOthers: true)) == ["screens.c", "transitions[1]"])
        let ended = Self.service(["command.Pay": ["event.Paid"], "event.SessionEnded": ["event.Paid"]])
        #expect(lines(try explorer(Self.screens, Self.early, [ended])) == [])
    }

    @Test("If pending events lead to too many states, events come at any time")
    func limit() throws {
        let whole = try explorer(Self.waiting.screens, Self.waiting.rules, [Self.clock])
        let limit = whole.exploration.stateCount
        let found = try explorer(Self.waiting.screens, Self.waiting.rules, [Self.shop, Self.clock], limit: limit)
        #expect(found.exploration.events == .unbound(["event.Paid"]))
        #expect(found.exploration.isWhole && found.exploration.stateCount == limit)
    }

    @Test("Many handlers, and more events than can be bound, are explored")
    func many() throws {
        let types = Set((0..<200).map { "event.E\($0)" })
        let rules = types.sorted().map { "  - { on: \($0), when: { top: a }, do: [{ openURL: \"a:b\" }] }" }
        let answers = Dictionary(uniqueKeysWithValues: (0..<300).map { ("command.C\($0)", types) })
        let found = try explorer(
            Self.screens, rules.joined(separator: "\n"),
            [Self.service(answers.merging(["command.X": types]) { $1 })])
        #expect(found.exploration.isWhole)
    }
}
