import CommandLineTestSupport
import Foundation
import Testing

// One browser at a time: several of them on two processors are too slow for gestures.
@Suite("Page in a browser", .serialized)
struct PageTests {
    @Test(
        "The story of the focus player works on the phone and on the mac", .timeLimit(.minutes(5)),
        arguments: [Story.Shape.processes, .nats])
    func story(shape: Story.Shape) async throws {
        try await PageStory.tell("story.py", in: shape)
    }

    @Test("The playing screen follows other clients of Spotify, and controls the music", .timeLimit(.minutes(5)))
    func playing() async throws {
        try await PageStory.tell("playing.py")
    }

    @Test("Two sessions with different accounts work at the same time", .timeLimit(.minutes(5)))
    func sessions() async throws {
        try await PageStory.tell("sessions.py")
    }

    @Test(
        "Every screen works by keyboard and with a screen reader, light and dark, wide and small",
        .timeLimit(.minutes(5)))
    func access() async throws {
        try await PageStory.tell("access.py")
    }

    @Test(
        "The inspector shows, sends and filters messages, and shows processes and dead letters",
        .timeLimit(.minutes(5)), arguments: [Story.Shape.processes, .nats])
    func inspector(shape: Story.Shape) async throws {
        try await PageStory.tell("inspector.py", in: shape)
    }

    @Test("Hostile messages and pages of other origins have no effect", .timeLimit(.minutes(5)))
    func hostile() async throws {
        try await PageStory.tell("hostile.py")
    }

    @Test("Gestures, the error banner, and a window that the browser blocks work", .timeLimit(.minutes(5)))
    func gestures() async throws {
        try await PageStory.tell("gestures.py")
    }

    @Test("The page continues after the kill -9 of a process", .timeLimit(.minutes(5)))
    func restarts() async throws {
        try await PageStory.tell("restarts.py")
    }

    @Test("Tabs share one stream, and a reload shows the same state", .timeLimit(.minutes(5)))
    func tabs() async throws {
        try await PageStory.tell("tabs.py")
    }

    @Test(
        "The map shows each step of the story on both platforms, and continues after kill -9", .timeLimit(.minutes(5)))
    func map() async throws {
        try await PageStory.tell("map.py")
    }

    @Test("The map is drawn without Graphviz, and hostile names in a flow have no effect", .timeLimit(.minutes(5)))
    func hostileMap() async throws {
        try await PageStory.tell(
            "hostile_map.py",
            beside: #"""
                name: "<b>watch</b>"
                version: 1
                platform: watch
                start: "<script>window.hacked=1</script>"
                commands:
                  command.Go: {}
                screens:
                  "<script>window.hacked=1</script>":
                    title: "<img src=x onerror='window.hacked=1'>\"]; graph [label=\"hacked"
                    sends: [command.Go]
                  "a\"]; node [label=\"x":
                    title: "\u202e\u2066right to left\u0007"
                  "\#(String(repeating: "long ", count: 190))":
                transitions:
                  - on: command.Go
                    when: { top: "<script>window.hacked=1</script>" }
                    do:
                      - push: "a\"]; node [label=\"x"
                """#)
    }

    @Test(
        "The map draws what scenarios do not take faintly, if the bus has this version of the flow",
        .timeLimit(.minutes(5)))
    func cover() async throws {
        try await PageStory.tell(
            "cover.py",
            beside: """
                name: shop
                version: 1
                platform: shop
                start: list
                screens: { list: , item: , details: , receipt: , refused: }
                transitions:
                  - { on: command.Chosen, do: [{ push: item }] }
                  - on: command.Ordered
                    guard: { accept: event.Accepted, reject: error.Refused, deadline: 20s, rejected: [{ push: refused }] }
                    do: [{ push: receipt }]
                flows:
                  "a, 5%":
                    start: item
                    transitions: [{ on: command.DetailsWanted, do: [{ push: details }] }]
                links:
                  - { url: "shop://item", to: { root: list, path: [item] } }
                """)
    }

    @Test(
        "Waits, acts of the user and a screen without a way back work on a device, and are on the map",
        .timeLimit(.minutes(5)))
    func acts() async throws {
        try await PageStory.tell(
            "acts.py",
            beside: """
                name: hotel
                version: 1
                platform: hotel
                start: welcome
                commands:
                  command.PaymentWanted: {}
                  command.Paid: {}
                  command.Extended: { nights: integer }
                screens:
                  welcome:
                  lobby:
                  rooms: { title: Rooms, sends: [command.PaymentWanted] }
                  bar: { title: Bar }
                  payment: { title: Payment, back: false, sends: [command.Paid] }
                  extra:
                  note: { title: Note }
                transitions:
                  - after: 100ms
                    when: { root: welcome }
                    do: [{ setRoot: { screen: lobby, container: { tabs: [rooms, bar] } } }]
                  - { on: command.PaymentWanted, do: [{ push: payment }] }
                  - on: command.Paid
                    do:
                      - present:
                          screen: extra
                          style: alert
                          title: Stay longer?
                          buttons:
                            - id: yes
                              title: One more night
                              sends: { type: command.Extended, data: { nights: 1 } }
                              do: [popToRoot, { push: note }]
                            - { id: no, title: No, role: cancel }
                  - { on: user.wentBack, where: { screen: note }, do: [{ selectTab: bar }] }
                  - { on: user.tappedTab, do: [{ present: { screen: note, style: sheet } }] }
                links:
                  - url: hotel://note
                    when: { root: lobby }
                    to: { root: { screen: lobby, container: { tabs: [rooms, bar] } }, path: [note] }
                    otherwise: { root: welcome }
                """)
    }

    @Test("The measurements of docs/observing.md can be taken", .timeLimit(.minutes(5)))
    func measurements() async throws {
        try await SegueCommandLine.inRepository { segue in
            let numbers = "--rounds 1 --taps 1 --rate 100 --seconds 1"
            let result = try await segue.shell(
                ".build/venv/bin/python scripts/measure-page paint load \(numbers) --bin .build/debug --json")
            try #require(result.status == 0, "\(result.error)")
            let figures = try JSONDecoder().decode([String: Double].self, from: Data(result.output.utf8))
            for name in ["paint.ms", "load.updates/s", "load.gateway.megabytes", "load.tap.p50.ms"] {
                #expect(figures[name] ?? 0 > 0, "\(name)")
            }
        }
    }
}
