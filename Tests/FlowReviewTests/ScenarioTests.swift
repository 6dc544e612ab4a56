import FlowFiles
import FlowReview
import Foundation
import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Scenarios")
struct ScenarioTests {
    @Test("The scenario of each shipped flow passes", arguments: ["ios", "mac"])
    func shipped(platform: String) throws {
        let flow = try ShippedFlows.flow(platform)
        let scenario = try ShippedFlows.scenario(platform, for: flow)
        let outcomes = scenario.play(on: flow)
        #expect(outcomes.count == scenario.steps.count)
        #expect(outcomes.flatMap(\.failures).isEmpty, "\(outcomes.last?.description ?? "")")
        #expect(outcomes == scenario.play(on: flow), "the same again")
        // The story shows every screen.
        let seen = outcomes.flatMap { $0.changes.values }.map(\.description).joined()
        for screen in flow.screens.keys { #expect(seen.contains(screen)) }
    }

    @Test("A scenario fails where its expectations are not met, and names line and column")
    func unexpected() throws {
        let failures = try failures(
            """
            - send: event.LaunchFinished
              expect:
                root: launch
                leaving: [launch, serviceSelection]
            """)
        #expect(
            failures == [
                """
                story.yaml:3:5: 'root' is not what was expected
                  - root: [launch]
                  + root: [serviceSelection-2]
                """,
                """
                story.yaml:4:5: 'leaving' is not what was expected
                  - leaving: [launch, serviceSelection]
                  + leaving: [launch-1]
                """,
                """
                story.yaml:2:3: no change of 'dismissed' was expected
                  + dismissed: [launch-1]
                """,
            ])
    }

    @Test("A step without expectations accepts everything, and an empty expectation accepts no effect")
    func nothing() throws {
        #expect(try failures("- send: event.LaunchFinished").isEmpty)
        #expect(try failures("- { send: event.LaunchFinished, expect: }").count == 3)
        #expect(try failures("- { send: event.LaunchFinished, expect: {} }").count == 3)
        #expect(try failures("- { send: event.Unheard, expect: {} }").isEmpty)
    }

    @Test("A step that states a part of its outcome accepts other changes")
    func includes() throws {
        #expect(try failures("- { send: event.LaunchFinished, includes: { root: serviceSelection } }").isEmpty)
        #expect(try failures("- { send: event.LaunchFinished, includes: {} }").isEmpty)
        #expect(
            try failures("- { send: event.LaunchFinished, includes: { root: launch } }") == [
                """
                story.yaml:1:45: 'root' is not what was expected
                  - root: [launch]
                  + root: [serviceSelection-2]
                """
            ])
        #expect(
            try findings("- { send: event.LaunchFinished, expect: {}, includes: {} }")
                == ["story.yaml:1:3: a step takes either 'expect' or 'includes'; remove one"])
        #expect(
            try findings("- dismiss\n  includes: {}").first?
                .contains("a colon, because 'includes' follows; write '- dismiss:'") == true)
    }

    @Test("The tea timer starts the same tea again, and a tea for a link, without a rule for either")
    func teaTimer() throws {
        let path = "config/flows/examples/brew.yaml"
        let flow = try Flow(yaml: String(contentsOfFile: Repository.path(path), encoding: .utf8), file: path)
        let scenario = try Scenario(
            yaml: """
                - send: { type: event.BrewBegan, data: { seconds: 180 } }
                  includes: { path: brewing }
                - send: { type: event.BrewFinished, data: { seconds: 180 } }
                  includes: { path: [], presented: { screen: ready, style: alert, title: Your tea is ready } }
                - answer: again
                  expect: { presented: [], dismissed: ready, sent: { type: command.BrewStarted, data: { seconds: 180 } } }
                - send: { type: event.DeepLinkReceived, data: { url: "tea://brew/60" } }
                  expect: { sent: { type: command.BrewStarted, data: { seconds: 60 } } }
                - send: { type: event.BrewBegan, data: { seconds: 60 } }
                  includes: { path: brewing }
                - send: { type: event.BrewEnded }
                  includes: { path: [] }
                - send: { type: event.BrewFinished, data: { seconds: 60 } }
                - send: { type: event.BrewFinished, data: { seconds: 61 } }
                  includes: { presented: { screen: ready, style: alert, title: Your tea is ready } }
                - send: { type: event.BrewBegan, data: { seconds: 60 } }
                  includes: { presented: [], path: brewing }
                - send: { type: event.DeepLinkReceived, data: { url: "tea://brew/long" } }
                  expect: { discarded: no link matches the URL }
                """, file: "story.yaml", flow: flow)
        #expect(scenario.play(on: flow, keepsGoing: true).flatMap(\.failures).flatMap { $0.lines(in: "") } == [])
    }

    @Test("A command that contradicts the flow's declaration cannot be sent")
    func declared() throws {
        let flow = try Flow(
            "shop", version: 1, platform: "ios", start: "a", commands: ["command.Go": ["n": .init(.integer)]]
        ) {
            Flow.Screen("a", sends: ["command.Go"])
            Flow.Screen("b")
            Flow.Transition(on: "command.Go", do: [.push(.screen("b", ["n": "${data.n}"]))])
        }
        let scenario = try Scenario(
            yaml: "- send: { type: command.Go, data: { n: x } }\n- send: { type: command.Go, data: { n: 1 } }",
            file: "story.yaml", flow: flow)
        let failures = scenario.play(on: flow, keepsGoing: true).flatMap(\.failures).map(\.message)
        #expect(failures == ["'data.n' of 'command.Go': expected a whole number, found a string"])
    }

    @Test("A message that changes nothing is explained: no rule, the nearest rule, or a rule without an effect")
    func silence() throws {
        let flow = try Flow(
            yaml: """
                name: shop
                version: 1
                platform: ios
                start: list
                screens: { list: , item: }
                transitions:
                  - on: event.Sold
                    where: { first: true }
                    when: { root: item, top: item }
                    do: [{ push: item }]
                  - on: event.Sold
                    where: { count: { atLeast: 2 } }
                    unless: { top: item }
                    do: [{ push: item }]
                  - on: event.Back
                    do: [popToRoot]
                """, file: "shop.yaml")
        let scenario = try Scenario(
            yaml: """
                - send: event.Lost
                - send: event.Sold
                - send: { type: event.Sold, data: { first: true } }
                - send: event.Back
                """, file: "story.yaml", flow: flow)
        #expect(
            scenario.play(on: flow).map(\.words.description) == [
                "nothing: no rule answers event.Lost",
                "nothing: no rule matches; in the nearest one, shop.yaml:11, 'where.count' does not hold",
                "nothing: no rule matches; in the nearest one, shop.yaml:11, 'where.count' does not hold",
                "nothing: the rule shop.yaml:15 changes nothing",
            ])
    }

    @Test("A scenario may begin in a given state")
    func begin() throws {
        #expect(
            try failures(
                """
                - begin:
                    root: playlistSelection
                    path: [{ screen: generatedPlaylist, arguments: { playlistID: p1 } }]
                    present: { screen: deviceActivation, style: sheet }
                  includes: { root: playlistSelection, leaving: [] }
                - send: { type: command.DeviceSelected, data: { deviceID: d } }
                  includes: { presented: [] }
                """
            ).isEmpty)
        #expect(
            try findings("- begin: { root: playlistSelectoin }").first?
                .contains("unknown screen 'playlistSelectoin'; did you mean") == true)
        #expect(
            try failures("- send: event.LaunchFinished\n- begin: { root: launch }") == [
                "story.yaml:2:3: 'begin' must be the first step; move it there"
            ])
    }

    @Test("After a restart, the story continues from the stored state")
    func restart() throws {
        #expect(
            try failures(
                """
                - send: event.LaunchFinished
                - restart:
                  expect: {}
                - send: { type: event.SpotifyAuthorizationUpdated, data: { status: authorized } }
                  includes: { root: playlistSelection }
                """
            ).isEmpty)
        #expect(try findings("- restart: now") == ["story.yaml:1:12: 'restart' takes no value; remove the value"])
    }

    @Test("A scenario fails where a rule fails, unless it expects that")
    func failingRule() throws {
        let flow = try Flow("home", version: 1, platform: "ios", start: "home") {
            Flow.Screen("home")
            Flow.Transition(on: "command.Back", do: [.pop])
        }
        func failures(_ yaml: String) throws -> [String] {
            try Scenario(yaml: yaml, file: "story.yaml", flow: flow).play(on: flow)
                .flatMap(\.failures).flatMap { $0.lines(in: "story.yaml") }
        }
        #expect(
            try failures("- send: command.Back") == [
                "story.yaml:1:3: a rule could not be applied; correct it, or expect 'failed'",
                "  + failed: [there is nothing to pop on the path; add a condition on the path to the rule]",
            ])
        #expect(try failures("- { send: command.Back, expect: { failed: navigation.nothingToPop } }").isEmpty)
        #expect(try failures("- { send: command.Back, expect: { failed: '' } }").isEmpty)
        #expect(try failures("- { send: command.Back, expect: { failed: } }").count == 3)
    }

    @Test("A scenario ends with the first step that fails, unless it keeps going")
    func keepsGoing() throws {
        let yaml = """
            - { send: event.LaunchFinished, expect: {} }
            - gone
            - { send: event.LaunchFinished, expect: { root: launch } }
            """
        let flow = try ShippedFlows.flow("ios")
        let scenario = try Scenario(yaml: yaml, file: "story.yaml", flow: flow)
        #expect(scenario.play(on: flow).count == 1)
        let all = scenario.play(on: flow, keepsGoing: true)
        #expect(all.map(\.failures.count) == [3, 0, 1])
        #expect(all[1].description == "2. command.ScreenGone of launch-1: nothing")
    }

    @Test(
        "A step that cannot be taken is reported with the reason",
        arguments: [
            ("back", "nothing is on a path"), ("dismiss", "nothing is presented"), ("gone", "nothing is leaving"),
            (
                "expire",
                "no guard and no rule with 'after' waits; such a rule begins to wait with a message, such as "
                    + "event.LaunchFinished"
            ),
            ("answer: ok", "nothing is presented as an alert or a dialog"),
            ("back: launch", "no instance of 'launch' is on a path; no other screen is"),
            (
                "send: { type: event.A, from: generatedPlaylist }",
                "no instance of 'generatedPlaylist' is open; others are: launch-1"
            ),
        ])
    func impossible(step: String, reason: String) throws {
        #expect(try failures("- \(step)") == ["story.yaml:1:3: \(reason)"])
    }

    @Test(
        "A scenario that cannot be read is refused with every mistake and its place",
        arguments: [
            ("send: event.A", "1:1: a scenario must be a list of steps, such as '- send"),
            ("- bak", "1:3: unknown step 'bak'; did you mean 'back'?"),
            ("- send", "1:3: step 'send' needs a value; write 'send: …'"),
            ("- sent: event.A", "1:3: unknown key 'sent' in a step; did you mean 'send'?"),
            ("- send: LaunchFinished", "1:9: 'LaunchFinished' is not the type of a message; write command.NAME or"),
            ("- send: { type: event.A, at: soon }", "1:30: 'soon' is not a duration"),
            ("- back: lunch", "1:9: unknown screen 'lunch'; did you mean 'launch'?"),
            ("- expire: 1", "1:11: 'expire' takes no value; remove the value"),
            ("- { back: , gone: }", "1:3: a step must have exactly one of begin, send, back, dismiss"),
            ("- { back: , expect: [] }", "1:21: 'expect' must be a mapping from aspects to values"),
            ("- { back: , expect: { rot: launch } }", "1:23: unknown key 'rot' in 'expect'; did you mean 'root'?"),
            ("- { back: , expect: { root: lunch } }", "1:29: unknown screen 'lunch'; did you mean 'launch'?"),
            ("- { back: , expect: { top: { screen: launch, x: 1 } } }", "1:46: unknown key 'x'"),
            ("- { back: , expect: { columns: launch } }", "1:32: 'columns' must be a mapping from names to screens"),
            ("", "1:1: the file is empty; describe a scenario in it"),
            ("- back\n  expect: {}", "1:3: step 'back' needs a colon, because 'expect' follows; write '- back:'"),
            ("- gone\n- dismiss  # it\n\n  # goes\n  expect:\n    path: []", "2:3: step 'dismiss' needs a colon"),
        ])
    func unreadable(yaml: String, finding: String) throws {
        let flow = try ShippedFlows.flow("ios")
        let error = #expect(throws: FlowError.self) { try Scenario(yaml: yaml, file: "story.yaml", flow: flow) }
        let first = error?.findings.first?.description ?? ""
        #expect(first.hasPrefix("story.yaml:\(finding)"), "\(first)")
    }

    private func failures(_ yaml: String) throws -> [String] {
        let flow = try ShippedFlows.flow("ios")
        return try Scenario(yaml: yaml, file: "story.yaml", flow: flow).play(on: flow, keepsGoing: true)
            .flatMap(\.failures).map { $0.lines(in: "story.yaml").joined(separator: "\n") }
    }

    private func findings(_ yaml: String) throws -> [String] {
        let flow = try ShippedFlows.flow("ios")
        let error = #expect(throws: FlowError.self) { try Scenario(yaml: yaml, file: "story.yaml", flow: flow) }
        return error?.findings.map(\.description) ?? []
    }
}

/// The aspects that scenarios can expect, each with a flow in which it changes. A step with an unexpected change fails.
@Suite("Effects in a scenario")
struct ScenarioAspectTests {
    @Test("A scenario describes a guard that waits, queued messages, and the end of the attempt")
    func guards() throws {
        let ended = """
            - send: { type: command.Next, data: { name: Bach }, from: form }
              expect:
                attempt: command.Next
                sent: { type: command.SaveDraft, data: { name: Bach } }
            - send: { type: command.Home }
              expect: { queue: command.Home, attempt: command.Next }
            """
        let begun = "- { send: command.Begin, expect: { path: form } }\n"
        try expect(
            begun + ended + """

                - send: { type: event.DraftChecked, data: { ok: true, draft: 7 }, causedBy: command.SaveDraft }
                  expect:
                    attempt: []
                    queue: []
                    path: []
                    opened: https://example.org/Bach
                    leaving: [done, form]
                    dismissed: [done, form]
                """, of: GuardFlow.flow(GuardFlow.saving(meanwhile: .queue)))
        try expect(
            begun + """
                - { send: { type: command.Next, data: { name: Bach } }, expect: { attempt: command.Next, sent: command.SaveDraft } }
                - expire:
                  expect:
                    attempt: []
                    presented: { screen: sorry, arguments: { why: late, name: Bach }, style: sheet }
                    discarded: no answer came in time
                """, of: GuardFlow.flow())
    }

    @Test("A deadline passes before a later message, and so do the deadlines of the released messages")
    func deadlines() throws {
        let late = "no answer came in time"
        try expect(
            """
            - { send: command.Begin, expect: { path: form } }
            - send: { type: command.Next, data: { name: Bach }, at: 1s }
              expect: { attempt: command.Next, sent: command.SaveDraft }
            - { send: { type: event.Other, at: 5s }, expect: {} }
            - send: { type: event.DraftChecked, data: { ok: true, draft: 7 }, causedBy: command.SaveDraft, at: 1h }
              expect:
                attempt: []
                presented: { screen: sorry, arguments: { why: late, name: Bach }, style: sheet }
                discarded: [\(late), attempt 'm2.ios.ask' has ended]
            """, of: GuardFlow.flow())
        try expect(
            """
            - { send: command.MenuOpened, expect: { attempt: command.MenuOpened } }
            - { send: command.MenuOpened, expect: { attempt: command.MenuOpened, queue: command.MenuOpened } }
            - send: { type: event.Other, at: 1500ms }
              expect: { attempt: command.MenuOpened, queue: [], discarded: \(late) }
            - { send: { type: event.Other, at: 2s }, expect: { attempt: [], discarded: \(late) } }
            """, of: GuardFlow.flow())
    }

    @Test("A scenario lists all attempts and queues, and the earliest deadline passes first")
    func severalAttempts() throws {
        try expect(
            """
            - { send: command.Begin, expect: { path: form } }
            - send: { type: command.Next, data: { name: Bach }, from: form }
              expect: { attempt: command.Next, sent: command.SaveDraft }
            - { send: { type: command.MenuOpened, from: welcome }, expect: { attempt: [command.Next, command.MenuOpened] } }
            - { send: { type: command.MenuOpened, from: welcome }, expect: { queue: command.MenuOpened } }
            - expire:
              expect: { attempt: [command.Next, command.MenuOpened], queue: [], discarded: no answer came in time }
            - { expire: , expect: { attempt: command.Next, discarded: no answer came in time } }
            """, of: GuardFlow.flow())
    }

    @Test("A scenario describes columns and tabs, and the paths in them")
    func containers() throws {
        let flow = try PlaygroundFlow.flow()
        try expect(
            """
            - send: { type: event.Go, data: { step: split } }
              expect: { root: { screen: b, container: split }, columns: { detail: c }, leaving: a, dismissed: a }
            - send: { type: event.Go, data: { step: pushOnDetail } }
              expect: { columns: { detail: [c, d, c] } }
            - gone:
              expect: { leaving: }
            - send: { type: event.Go, data: { step: tabs } }
              expect:
                root: { screen: c, container: tabs }
                columns: {}
                tab: d
                tabs: { d: d, more: e }
                leaving: [c, d, c, b]
                dismissed: [c, d, c, b]
            - { tab: more, expect: { tab: more } }
            - { send: { type: event.Go, data: { step: pushA } }, expect: { path: a } }
            - { tab: d, expect: { tab: d, path: [] } }
            - { back: a, expect: { tabs: { d: d, more: e }, dismissed: a } }
            - { tab: no, expect: { discarded: has no tab 'no' } }
            """, of: flow)
    }

    @Test("A scenario describes stacks in presentations, child flows and rules that fail")
    func layers() throws {
        try expect(
            """
            - { send: { type: event.Go, data: { step: popover } }, expect: { presented: { screen: b, style: popover, path: c } } }
            - { back: c, expect: { presented: b, dismissed: c } }
            - { dismiss: , expect: { presented: [], dismissed: b } }
            - { send: { type: event.Go, data: { step: pop } }, expect: { failed: navigation.nothingToPop } }
            - { send: { type: event.Go, data: { step: pop } }, expect: { failed: nothing to pop on the path } }
            - { send: { type: event.Go, data: { step: wizard } }, expect: { runs: wizard, path: e } }
            - { back: e, expect: { runs: [], path: [], dismissed: e } }
            """, of: PlaygroundFlow.flow())
    }

    @Test("A scenario describes a deep link that waits until its clock has passed the link's time")
    func links() throws {
        let authorized = "type: event.SpotifyAuthorizationUpdated, data: { status: authorized }"
        let begun = """
            - send: { type: event.DeepLinkReceived, data: { url: focus://playlist/p1 }, at: 1m }
              expect: { parked: focus://playlist/p1 }

            """
        try expect(
            begun + """
                - send: { \(authorized), at: 12m }
                  expect:
                    root: playlistSelection
                    parked: []
                    discarded: event.DeepLinkReceived
                    leaving: launch
                    dismissed: launch
                """, of: ShippedFlows.flow("ios"))
        try expect(
            begun + """
                - send: { \(authorized), at: 10m }
                  expect:
                    root: playlistSelection
                    path: { screen: generatedPlaylist, arguments: { playlistID: p1 } }
                    parked: []
                    sent: command.PlaylistSelected
                    leaving: launch
                    dismissed: launch
                """, of: ShippedFlows.flow("ios"))
    }

    @Test("An expected screen differs from one with a path, or with other arguments")
    func strictness() throws {
        let flow = try PlaygroundFlow.flow()
        #expect(
            try failures("- { send: { type: event.Go, data: { step: popover } }, expect: { presented: b } }", of: flow)
                == 1)
        let form = try GuardFlow.flow()
        let begun = "- { send: command.Begin, expect: { path: "
        #expect(try failures(begun + "{ screen: form, arguments: {} } } }", of: form) == 0)
        #expect(try failures(begun + "{ screen: form, arguments: { a: 1 } } } }", of: form) == 1)
        #expect(try failures(begun + "form-2 } }", of: form) == 0)
        #expect(try failures(begun + "form-1 } }", of: form) == 1)
    }

    private func expect(_ yaml: String, of flow: Flow) throws {
        let scenario = try Scenario(yaml: yaml, file: "story.yaml", flow: flow)
        let failures = scenario.play(on: flow).flatMap(\.failures).flatMap { $0.lines(in: "story.yaml") }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    private func failures(_ yaml: String, of flow: Flow) throws -> Int {
        try Scenario(yaml: yaml, file: "story.yaml", flow: flow).play(on: flow).flatMap(\.failures).count
    }
}
