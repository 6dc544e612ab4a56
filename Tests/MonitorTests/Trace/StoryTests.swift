import Contracts
import EventBus
import FlowFiles
import Foundation
import Monitor
import Navigation
import Testing

@Suite("Stories in a journal")
struct StoryTests {
    private func bus() async throws -> EventBus {
        let bus = EventBus.inMemory(source: "test/1", hub: InMemoryHub(maximumGap: 1000))
        try await bus.publish(
            Batch([
                try .recorded("aa-1", "command.PlaylistSelected", at: 0),
                try .recorded("aa-2", "command.PlayOnSpotifyRequested", at: 0),
                try .recorded("aa-1.ios.0", "event.A", at: 0, causedBy: "aa-1", in: "aa-1"),
                try .recorded("bb-1", "event.B", at: 0, causedBy: "aa-1.ios.0", in: "aa-1"),
                try .recorded("cc-1", "command.ScreenDisplayed", at: 0),
                try .recorded("cc-2", "command.ScreenGone", at: 0),
                try .recorded("dd-1", "document.Presence", at: 0),
            ]))
        return bus
    }

    @Test(
        "A story is found by the id of any of its messages, or its beginning or end",
        arguments: [
            ("aa-1", .story(id: "aa-1")), ("bb-1", .story(id: "aa-1")), ("bb", .story(id: "aa-1")),
            ("aa-1.", .story(id: "aa-1")), ("aa", .several(["aa-1", "aa-2"])), ("b-1", .story(id: "aa-1")),
            ("-2", .several(["aa-2", "cc-2"])),
            ("zz", .none),
        ] as [(String, StoryFinder.Match)])
    func match(text: String, expected: StoryFinder.Match) async throws {
        #expect(try await StoryFinder(bus: try await bus(), start: .beginning).match(text) == expected)
    }

    @Test("A story has all its messages, and the last story is the one that began last")
    func last() async throws {
        let finder = StoryFinder(bus: try await bus(), start: .beginning)
        #expect(try await finder.last().story?.id == "aa-2")
        let bus = try await bus()
        let third = try await bus.offset(of: "aa-1.ios.0")
        #expect(try await StoryFinder(bus: bus, start: .offset(third)).last().story == nil)
        #expect(try await finder.story("aa-1").messages.map(\.id) == ["aa-1", "aa-1.ios.0", "bb-1"])
    }

    @Test("The last story is one of a user, if there is one, even if a service began a later one")
    func person() async throws {
        let bus = try await bus()
        for (id, source, device) in [("t", "device/1", "ios-1"), ("s", "segue/1", nil), ("u", "timer-service/1", nil)] {
            var message = try Envelope.recorded(id, "event.Tick", at: 0)
            (message.attributes.source, message.attributes.device) = (source, device)
            try await bus.publish(Batch([message]))
            for start in [nil, MonitorStart.beginning, .offset(1)] {
                let last = try await StoryFinder(bus: bus, start: start).last().story
                #expect(last?.id == (id == "u" ? "s" : id))
            }
        }
    }

    @Test("An empty journal has no story")
    func empty() async throws {
        let finder = StoryFinder(bus: EventBus.inMemory(source: "test/1"), start: .beginning)
        #expect(try await finder.match("a") == .none)
        #expect(try await finder.last().story == nil)
    }

    @Test("The next story is followed until no more messages arrive")
    func follow() async throws {
        let bus = try await bus()
        let story = try await StoryFollower(bus: bus, quiet: .milliseconds(20)).follow {
            let messages = try? [
                Envelope.recorded("r", "command.ScreenGone", at: 0), .recorded("t", "command.Tapped", at: 0),
                .recorded("u", "command.Tapped", at: 0), .recorded("t.0", "event.A", at: 0, causedBy: "t", in: "t"),
            ]
            _ = try? await bus.publish(Batch(messages ?? []))
        } _: { _ in
        }
        #expect(story.messages.map(\.id) == ["t", "t.0"])
    }

    @Test("A story continues as long as a guard waits for the answer to one of its messages")
    func pending() throws {
        let flow = try Flow(
            yaml: """
                name: form
                version: 1
                platform: ios
                start: form
                screens: { form: , done: }
                transitions:
                  - on: command.Next
                    guard: { accept: event.Accepted, deadline: 1s }
                    do: [{ push: done }]
                """, file: "form.yaml")
        var machine = Machine(flow: flow)
        var (story, other) = (Story(id: "tap"), Story(id: "other"))
        var pending: [Bool] = []
        for message in [
            try Envelope.recorded("tap", "command.Next", at: 1),
            try .recorded("answer", "event.Accepted", at: 2, causedBy: "tap", in: "tap"),
        ] {
            _ = machine.handle(try #require(Machine.Input(message)))
            let data = try JSONEncoder().encode(Document.NavigationState(machine.snapshot))
            let document = try Envelope.recorded(
                "\(message.id).ios.0", "document.NavigationState", at: 3, data: String(decoding: data, as: UTF8.self),
                causedBy: message.id, in: "tap"
            ) { $0.key = "ios" }
            for message in [message, document] {
                story.add(message)
                other.add(message)
            }
            pending.append(story.isPending)
            #expect(!other.isPending && other.messages.isEmpty)
        }
        #expect(pending == [true, false])
        #expect(story.messages.map(\.id) == ["tap", "tap.ios.0", "answer", "answer.ios.0"])
    }
}
