import Navigation
import Testing

/// What scenarios can tell, each in a flow where it happens. A step whose outcome is not all expected fails.
@Suite("A scenario tells of")
struct ScenarioAspectTests {
    @Test("a guard that waits, what is held back meanwhile, and how it ends")
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

    @Test("columns and tabs, and the paths in them")
    func containers() throws {
        let flow = try PlaygroundFlow.flow()
        try expect(
            """
            - send: { type: event.Go, data: { step: 1 } }
              expect: { root: { screen: b, container: split }, columns: { detail: c }, leaving: a, dismissed: a }
            - send: { type: event.Go, data: { step: 7 } }
              expect: { columns: { detail: [c, d, c] } }
            - gone:
              expect: { leaving: }
            - send: { type: event.Go, data: { step: 2 } }
              expect:
                root: { screen: c, container: tabs }
                columns: {}
                tab: d
                tabs: { d: d, more: e }
                leaving: [c, d, c, b]
                dismissed: [c, d, c, b]
            - { tab: more, expect: { tab: more } }
            - { send: { type: event.Go, data: { step: 4 } }, expect: { path: a } }
            - { tab: d, expect: { tab: d, path: [] } }
            - { back: a, expect: { tabs: { d: d, more: e }, dismissed: a } }
            - { tab: no, expect: { discarded: has no tab 'no' } }
            """, of: flow)
    }

    @Test("stacks within presentations, child flows and rules that fail")
    func layers() throws {
        try expect(
            """
            - { send: { type: event.Go, data: { step: 19 } }, expect: { presented: { screen: b, style: popover, path: c } } }
            - { back: c, expect: { presented: b, dismissed: c } }
            - { dismiss: , expect: { presented: [], dismissed: b } }
            - { send: { type: event.Go, data: { step: 10 } }, expect: { failed: navigation.nothingToPop } }
            - { send: { type: event.Go, data: { step: 10 } }, expect: { failed: the path is empty } }
            - { send: { type: event.Go, data: { step: 25 } }, expect: { runs: wizard, path: e } }
            - { back: e, expect: { runs: [], path: [], dismissed: e } }
            """, of: PlaygroundFlow.flow())
    }

    @Test("a deep link that waits, as long as the scenario's clock lets it")
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
                """, of: FlowFiles.flow("ios"))
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
                """, of: FlowFiles.flow("ios"))
    }

    @Test("a presentation with a path only when it says so, and arguments only when all of them are right")
    func strictness() throws {
        let flow = try PlaygroundFlow.flow()
        #expect(
            try failures("- { send: { type: event.Go, data: { step: 19 } }, expect: { presented: b } }", of: flow) == 1)
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
