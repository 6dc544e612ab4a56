import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import Navigation
import SegueTestSupport
import Support
import TestSupport
import Testing

@testable import Coordinator

@Suite("Coordinator: sessions", .timeLimit(.minutes(1)))
struct CoordinatorSessionTests {
    let fixture = CoordinatorFixture()
    var view: EventBus { fixture.view }

    /// Sessions in different partitions.
    private let sessions = (1...20).map { "user-\($0)" }

    private func begin() async throws {
        for session in sessions { try await view.publish(DomainEvent.LaunchFinished(), subject: session) }
        for session in sessions {
            try await fixture.snapshot(session: session) { $0.state.root.instance.screen == "list" }
        }
    }

    private func select(_ item: String) async throws {
        for session in sessions { try await view.send(Command.ItemSelected(itemID: item), subject: session) }
    }

    /// Waits until each session shows these items.
    private func show(_ items: [String]) async throws {
        for session in sessions {
            try await fixture.snapshot(session: session) {
                $0.state.path.map { $0.arguments["itemID"]?.stringValue } == items
            }
        }
    }

    private func coordinator(_ number: Int, liveSessions: Int = 20, source: String? = nil) throws -> Coordinator {
        Coordinator(
            flow: try .shop(), source: source, liveSessions: liveSessions,
            bus: EventBus.inMemory(source: "navigation-coordinator/\(number)", hub: fixture.hub), logger: .silent,
            clock: ServiceClock(clock: fixture.clock))
    }

    @Test("The flow is published again under a new claim, because its lease ends with the former one")
    func flow() async throws {
        let flows: [MessageFilter] = [.type(Document.Flow.self)]
        try await withRunning(coordinator(1, source: "name: shop")) {
            _ = try await view.withSubscription(to: flows, from: .retained) { try await $0.first }
            let other = EventBus.inMemory(source: "navigation-coordinator/2", hub: fixture.hub)
            let joined = try await other.engine.withMember(of: "navigation-coordinator.ios", .shared) { member in
                _ = try await other.engine.claim(consumer: "navigation-coordinator.ios", as: member)
                return await fixture.hub.end
            }
            let again = try await view.withSubscription(to: flows, from: .after(joined)) { messages in
                try await messages.first { !$0.isTombstone }
            }
            #expect(again?.attributes.source == "navigation-coordinator/1")
        }
    }

    @Test("Several coordinators share the sessions, and when one ends, the others continue with its sessions")
    func shared() async throws {
        try await withRunning(coordinator(1)) {
            try await withRunning(coordinator(2)) {
                try await withRunning(coordinator(3)) {
                    try await begin()
                    try await select("a")
                    try await show(["a"])
                    let states = try await view.journalled(Document.NavigationState.self)
                    let sources = Set(states.map(\.attributes.source))
                    #expect(sources == Set((1...3).map { "navigation-coordinator/\($0)" }))
                }
                try await select("b")
                try await show(["a", "b"])
            }
            try await select("c")
            try await show(["a", "b", "c"])
        }
        let commands = try await view.journalled(Command.ItemSelected.self).count
        let states = try await view.journalled(Document.NavigationState.self)
        let answers = states.filter { state in sessions.contains(state.subject) }
        #expect(answers.count == commands + sessions.count, "each message is answered once")
        #expect(try await view.inspect.deadLetters(of: nil).isEmpty)
    }

    @Test("A coordinator that keeps few machines in memory leads to the same states as one that keeps all")
    func fewMachines() async throws {
        try await withRunning(coordinator(1, liveSessions: 1)) {
            try await begin()
            for item in ["a", "b", "c"] { try await select(item) }
            try await show(["a", "b", "c"])
        }
    }

    @Test("A session begins with a launch or a deep link, and other commands to it are discarded")
    func begins() async throws {
        try await fixture.withShop {
            let command = try await view.send(Command.ItemSelected(itemID: "1"), subject: "two")
            let discarded = try #require(
                try await view.first(DomainEvent.MessageDiscarded.self) { $0.messageID == command.id })
            #expect(discarded.subject == "two")
            try await view.send(Command.ItemSelected(itemID: "1"), subject: "two", lifetime: .seconds(-1))
            try await view.publish(DomainEvent.Warned(), subject: "two")
            try await view.publish(DomainEvent.DeepLinkReceived(url: "shop://item/1"), subject: "three")
            try await fixture.snapshot(session: "three") { $0.revision == 0 }
        }
        let states = try await view.documents(matching: [.type(Document.NavigationState.self)])
        #expect(states.map(\.subject) == ["default", "three"])
        #expect(try await view.journalled(ApplicationError.self).isEmpty, "nobody would ever dismiss an error of 'two'")
    }

    @Test("A session that ends withdraws its documents, and can begin again")
    func ends() async throws {
        try await fixture.withShop {
            try await view.publish(DomainEvent.LaunchFinished(), subject: "two")
            try await view.send(Command.OptionsOpened(), subject: "two")
            try await fixture.snapshot(session: "two") { !$0.state.presentations.isEmpty && !$0.state.leaving.isEmpty }
            #expect(try await deadlines("two") == 1, "the launch screen leaves")
            try await view.publish(DomainEvent.SessionEnded(), subject: "two")
            let late = try await view.send(Command.OptionsOpened(), subject: "two")
            _ = try #require(try await view.first(DomainEvent.MessageDiscarded.self) { $0.messageID == late.id })
            #expect(try await view.document(Document.NavigationState.self, subject: "two", key: "ios") == nil)
            #expect(try await deadlines("two") == 0)

            try await view.publish(DomainEvent.LaunchFinished(), subject: "two")
            let again = try await fixture.snapshot(session: "two") { $0.state.root.instance.screen == "list" }
            #expect(again.revision == 1 && again.state.presentations.isEmpty)
        }
    }

    private func deadlines(_ session: String) async throws -> Int {
        try await view.documents(matching: [.type(Document.Deadline.self, subject: session)]).count
    }

    /// Publishes the state of a session as if it had been published some time ago.
    private func publishState(_ session: String, _ platform: String = "ios", age: TimeInterval) async throws {
        let snapshot = Machine(flow: try .shop(platform), session: session).snapshot
        var state = try Envelope(
            Document.NavigationState(snapshot), source: "navigation-coordinator/0", subject: session)
        state.attributes.time = Date() - age
        try await view.publish(Batch([state]))
    }

    private func coordinator(_ platform: String, sessionIdle: Duration) throws -> Coordinator {
        Coordinator(
            flow: try .shop(platform), source: "", sessionIdle: sessionIdle,
            bus: EventBus.inMemory(source: "navigation-coordinator/\(platform)", hub: fixture.hub), logger: .silent,
            clock: ServiceClock(clock: fixture.clock))
    }

    @Test("A session without a message for the given time ends, unless another platform has used it")
    func idle() async throws {
        for number in 1...300 { try await publishState("elsewhere-\(number)", "tv", age: 1000) }
        try await publishState("idle", age: 1000)
        try await publishState("used", age: 1000)
        try await publishState("used", "mac", age: 10)
        // No coordinator of this platform runs now.
        try await publishState("watched", age: 1000)
        try await publishState("watched", "tv", age: 10)
        try await publishState("young", age: 10)
        try await withRunning(coordinator("ios", sessionIdle: .seconds(100))) {
            try await withRunning(coordinator("mac", sessionIdle: .seconds(100))) {
                try await fixture.clock.sleepers(2)
                fixture.clock.advance(by: .seconds(10))
                try await fixture.clock.sleepers(2)
                let states = try await view.journalled(DomainEvent.SessionEnded.self)
                #expect(states.map(\.subject) == ["idle"])
            }
        }
    }

    @Test("An idle session is ended once, even if no coordinator handles the event before the next search")
    func idleOnce() async throws {
        try await publishState("idle", age: 1000)
        var idle = IdleSessions(limit: .seconds(100))
        for _ in 1...3 { try await idle.end(of: .shop("ios"), on: view, at: Date()) { _ in true } }
        #expect(try await view.journalled(DomainEvent.SessionEnded.self).map(\.subject) == ["idle"])
    }

    @Test("A message that changes nothing still keeps its session from ending")
    func renewal() async throws {
        try await publishState("two", age: 60)
        try await withRunning(coordinator("ios", sessionIdle: .seconds(100))) {
            let message = try await view.send(
                Command.ScreenDisplayed(revision: 0), subject: "two", origin: fixture.phone)
            try await view.withSubscription(
                to: [.type(Document.NavigationState.self, subject: "two")], from: .retained
            ) { states in
                for try await state in states where state.attributes.time > Date() - 50 {
                    #expect(state.attributes.causationID == message.id)
                    return
                }
            }
        }
    }

    @Test("A session changes to a changed flow at its next message, and the default session at once")
    func changedFlow() async throws {
        try await withRunning(coordinator(1)) {
            try await begin()
            try await select("a")
            try await show(["a"])
        }
        try await withRunning(fixture.coordinator(.shop(items: false))) {
            let session = sessions[0]
            let before = try await fixture.snapshot(session: session) { _ in true }
            #expect(before.state.path.count == 1)
            try await view.publish(DomainEvent.Warned(), subject: session)
            let after = try await fixture.snapshot(session: session) { !$0.state.presentations.isEmpty }
            #expect(after.state.path.isEmpty)
        }
    }
}
