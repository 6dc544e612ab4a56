import Consuming
import Contracts
import Coordinator
import EventBus
import Foundation
import Logging
import Navigation
import TestSupport
import Testing

@Suite("Coordinator: restarts", .timeLimit(.minutes(1)))
struct CoordinatorRestartTests {
    let fixture = CoordinatorFixture()
    var view: EventBus { fixture.view }

    /// A history of messages. After each message the test waits for the revision that the message causes.
    private let history: [any Message] = [
        DomainEvent.LaunchFinished(), Command.ItemSelected(itemID: "1"), Command.OptionsOpened(),
        Command.ItemSelected(itemID: "2"), DomainEvent.Warned(),
    ]

    @Test("A coordinator that is killed often leads to the same state")
    func sameState() async throws {
        for (index, message) in history.enumerated() {
            try await view.publish(Batch([Envelope(message, source: "view/1")]))
            try await withRunning(fixture.coordinator(.shop())) {
                try await fixture.snapshot { $0.revision == index + 1 }
            }
        }
        let unbroken = CoordinatorFixture()
        for message in history { try await unbroken.view.publish(Batch([Envelope(message, source: "view/1")])) }
        let expected = try await withRunning(unbroken.coordinator(.shop())) {
            try await unbroken.snapshot { $0.revision == history.count }
        }
        let snapshot = try #require(try await fixture.currentSnapshot())
        #expect(snapshot.state == expected.state)
        #expect(snapshot.memory == expected.memory)
        #expect(snapshot.revision == expected.revision)
    }

    @Test("A message that arrives while the coordinator is away is handled once")
    func whileAway() async throws {
        try await fixture.withShop {}
        try await view.send(Command.ItemSelected(itemID: "7"))
        for _ in 0..<2 {
            try await withRunning(fixture.coordinator(.shop())) {
                let snapshot = try await fixture.snapshot { !$0.state.path.isEmpty }
                #expect(snapshot.state.path.count == 1)
            }
        }
    }

    @Test("A screen that a changed flow lacks is dismissed with a report")
    func changedFlow() async throws {
        try await fixture.withShop {
            try await view.send(Command.ItemSelected(itemID: "7"))
            try await fixture.snapshot { !$0.state.path.isEmpty }
        }
        try await withRunning(fixture.coordinator(.shop(items: false))) {
            _ = try await view.first(DomainEvent.ScreenDismissed.self) { $0.screen == "item" }
            let snapshot = try #require(try await fixture.currentSnapshot())
            #expect(snapshot.state.path.isEmpty)
            #expect(snapshot.state.root.instance.screen == "list")
        }
    }

    @Test("A state of a changed flow that the bus refuses does not prevent the change of other sessions")
    func refusedState() async throws {
        try await fixture.withShop {
            for session in ["bad", "good"] {
                try await view.publish(DomainEvent.LaunchFinished(), subject: session)
                try await view.send(Command.ItemSelected(itemID: "7"), subject: session)
                try await fixture.snapshot(session: session) { !$0.state.path.isEmpty }
            }
        }
        let bus = RefusingBus(
            inner: EventBus.inMemory(source: "navigation-coordinator/1", hub: fixture.hub),
            refuses: { $0.subject == "bad" })
        try await withRunning(
            Coordinator(
                flow: .shop(items: false), bus: bus.bus, logger: .silent, clock: ServiceClock(clock: fixture.clock))
        ) {
            for session in ["bad", "good"] { try await view.publish(DomainEvent.LaunchFinished(), subject: session) }
            try await fixture.snapshot(session: "good") { $0.state.path.isEmpty }
        }
    }

    @Test("A session whose snapshot cannot be read starts again")
    func unreadableSnapshot() async throws {
        var attributes = Attributes(type: Document.NavigationState.type, source: "older/1")
        attributes.key = "ios"
        try await view.publish(Batch([Envelope(attributes: attributes, data: .init(#"{"version":0}"#.utf8))]))
        try await withRunning(fixture.coordinator(.shop())) {
            let snapshot = try #require(try await fixture.currentSnapshot())
            #expect(snapshot.state.root.instance.screen == "launch")
        }
    }

    @Test(
        "A session whose snapshot has numbers at their limit starts again, with a report",
        arguments: [#""revision":"#, #""instances":"#])
    func endlessNumbers(number: String) async throws {
        let origin = Origin(platform: "ios")
        let flow = try Flow("shop", version: 1, platform: "ios", start: "launch") {
            for name in ["launch", "list", "item"] { Flow.Screen(name) }
            Flow.Transition(on: "event.LaunchFinished", do: [.setRoot("list")])
            Flow.Transition(on: "command.ItemSelected", do: [.push("item")])
        }
        try await withRunning(fixture.coordinator(flow)) {
            try await view.publish(DomainEvent.LaunchFinished(), subject: "zz", origin: origin)
            try await fixture.snapshot(session: "zz") { $0.state.root.instance.screen == "list" }
        }
        let stored = try #require(
            try await view.document(Document.NavigationState.type, subject: "zz", key: "ios"))
        let text = String(decoding: stored.data, as: UTF8.self)
        let start = try #require(text.firstRange(of: number)).upperBound
        let end = try #require(text[start...].firstIndex { !$0.isNumber })
        var hostile = try Envelope(
            Document.NavigationState(stored.decode(Document.NavigationState.self).snapshot), source: "stranger/1",
            subject: "zz", origin: origin)
        hostile.data = Data((text[..<start] + "9223372036854775807" + text[end...]).utf8)
        try await view.publish(Batch([hostile]))
        try await withRunning(fixture.coordinator(flow)) {
            let tap = try await view.send(Command.ItemSelected(itemID: "7"), subject: "zz", origin: origin)
            let errors = try await view.received(ApplicationError.self)
            let snapshot = try await fixture.snapshot(session: "zz") { $0.cause == tap.id }
            #expect(snapshot.state.root.instance.screen == "launch")
            #expect(snapshot.state.path.map(\.screen) == ["item"])
            let error = try #require(try errors.first?.decode(ApplicationError.self))
            #expect(errors.map(\.subject) == ["zz"])
            #expect(error.code == "navigation.unreadableState")
            #expect(error.message.contains("9223372036854775807 is not between 0 and 9007199254740991"))
            #expect(error.message.split(whereSeparator: \.isNewline).count == 1)
        }
    }
}
