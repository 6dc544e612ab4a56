import Consuming
import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import Support
import Testing

extension Command {
    fileprivate struct Ordered: CommandMessage { var kind: String }
    fileprivate struct Reminded: CommandMessage { var number: Int }
    fileprivate struct Checked: CommandMessage {}
}

extension DomainEvent {
    fileprivate struct Served: EventMessage { var kind: String }
    fileprivate struct Rang: EventMessage { var number: Int }
}

@Suite("App in the process of a test", .timeLimit(.minutes(3)))
struct TestAppTests {
    private let barista = Handlers("barista")
        .on(Command.Ordered.self, sends: DomainEvent.Served.self) { order, _ in
            [DomainEvent.Served(kind: order.kind)]
        }

    /// Rings three times, a minute apart.
    private let alarm = Handlers("alarm")
        .on(Command.Reminded.self, sends: DomainEvent.Rang.self, Command.Reminded.self) { reminder, _ in
            let rang = DomainEvent.Rang(number: reminder.number)
            guard reminder.number < 3 else { return [rang] }
            return [rang, .later(Command.Reminded(number: reminder.number + 1), after: .seconds(60))]
        }

    private func flow(_ platform: String) throws -> Flow {
        try Flow("cafe", version: 1, platform: platform, start: "menu") {
            Flow.Screen("menu", sends: ["command.Ordered"])
            Flow.Screen("cup")
            Flow.Transition(on: "event.Served", do: [.push(.screen("cup", ["kind": "${data.kind}", "size": 2]))])
            Flow.Transition(on: "event.Rang", do: [.popToRoot])
        }
    }

    @Test("A test app has several platforms and sessions, each with its screen")
    func platforms() async throws {
        let app = try await TestApp(flows: [flow("ios"), flow("mac")], barista)
        try await app.publish(DomainEvent.LaunchFinished(), subject: "anna")
        try await app.send(Command.Ordered(kind: "lungo"))
        #expect(try await app.screen(on: "ios") == "cup(kind: lungo, size: 2)")
        #expect(try await app.screen(on: "mac") == "cup(kind: lungo, size: 2)")
        #expect(try await app.screen(on: "mac", of: "anna") == "menu")
        #expect(try await app.state(of: "mac", in: "anna").leaving.isEmpty)
        let missing = await #expect(throws: StackFailure.self) { try await app.screen(on: "ios", of: "bea") }
        #expect(missing?.reason == "there is no state of ios")
        await #expect(throws: StackFailure.self) { try await app.screen }
    }

    @Test("The clock stops at each due timer, whose messages have this time")
    func timers() async throws {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let app = try await TestApp(flow: flow("ios"), alarm, clock: ManualClock(date: start))
        try await app.send(Command.Reminded(number: 1))
        try await app.advance(by: .milliseconds(59_999))
        #expect(app.messages.filter { $0.type == DomainEvent.Rang.type }.count == 1)
        try await app.advance(by: .seconds(600))
        let rung = app.messages.filter { $0.type == DomainEvent.Rang.type }
        #expect(rung.map { $0.attributes.time.timeIntervalSince(start) } == [0, 60, 120])
        #expect((app.clock.date.timeIntervalSince(start) * 1000).rounded() == 659_999)
    }

    @Test("A moved clock does not expire a view's command, and a leaving screen is gone after its time")
    func expiry() async throws {
        let app = try await TestApp(flow: flow("ios"), barista, alarm)
        try await app.advance(by: .seconds(86_400))
        try await app.send(Command.Ordered(kind: "lungo"), origin: Origin(platform: "ios", device: "phone-1"))
        #expect(try await app.screen == "cup(kind: lungo, size: 2)")
        try await app.send(Command.Reminded(number: 3))
        #expect(try await app.state(of: "ios").leaving.count == 1)
        try await app.advance(by: .seconds(2))
        #expect(try await app.state(of: "ios").leaving.isEmpty)
    }

    @Test("A handler that fails is called again, and the banner of its error hides in time")
    func banner() async throws {
        struct Broken: Error {}
        let broken = Handlers("broken", retries: RetryPolicy(attempts: 2, firstDelay: .milliseconds(1), factor: 1))
            .on(Command.Checked.self) { _, _ in throw Broken() }
        let app = try await TestApp(flow: flow("ios"), broken)
        try await app.send(Command.Checked())
        #expect(try await app.bus.inspect.deadLetters(of: "broken").map(\.rejection.attempts) == [2])
        #expect(try await app.bus.document(Document.ErrorBanner.self)?.error?.code == "broken.failed")
        try await app.advance(by: .milliseconds(9_999))
        #expect(try await app.bus.document(Document.ErrorBanner.self)?.error != nil)
        try await app.advance(by: .milliseconds(1))
        #expect(try await app.bus.document(Document.ErrorBanner.self)?.error == nil)
    }

    @Test("A banner hides after its own error's time, not after that of a waiting one")
    func waitingError() async throws {
        let app = try await TestApp(flow: flow("ios"))
        try await app.publish(ApplicationError(code: "first", message: "It failed."))
        try await app.advance(by: .seconds(5))
        try await app.publish(ApplicationError(code: "second", message: "It failed, too."))
        try await app.advance(by: .seconds(5))
        #expect(try await app.bus.document(Document.ErrorBanner.self)?.error?.code == "second")
        try await app.advance(by: .seconds(10))
        #expect(try await app.bus.document(Document.ErrorBanner.self)?.error == nil)
    }

    @Test(
        "A timer of any number of milliseconds is due in time, in many sessions at once",
        arguments: [1, 150, 200, 400, 700, 900])
    func milliseconds(delay: Int) async throws {
        let chime = Handlers("chime")
            .on(Command.Checked.self, sends: Command.Reminded.self) { _, _ in
                [.later(Command.Reminded(number: 3), after: .milliseconds(delay))]
            }
            .on(Command.Reminded.self, sends: DomainEvent.Rang.self) { reminder, _ in
                [DomainEvent.Rang(number: reminder.number)]
            }
        let app = try await TestApp(flows: [], chime)
        let sessions = (0..<20).map { "guest-\($0)" }
        for session in sessions { try await app.send(Command.Checked(), subject: session) }
        try await app.bus.publishTransient([Envelope(DomainEvent.Rang(number: 0), source: app.bus.source)])
        try await app.advance(by: .milliseconds(delay))
        let rung = app.messages.filter { $0.type == DomainEvent.Rang.type && $0.position != nil }
        #expect(rung.map(\.subject).sorted() == sessions.sorted())
    }

    @Test("A failure names the service that stays busy, and the app ends when it is released")
    func unrest() async throws {
        let ended = Latch()
        let slow = Handlers("slow").on(Command.Checked.self) { _, _ in
            defer { ended.open() }
            try await Task.sleep(for: .seconds(3600))
            return []
        }
        do {
            let app = try await TestApp(flow: flow("ios"), slow, deadline: .milliseconds(300))
            let line: UInt = #line + 1
            let failure = await #expect(throws: StackFailure.self) { try await app.send(Command.Checked()) }
            #expect(failure?.reason == "waited 300ms for the app to be at rest: slow has messages to handle: 1")
            let place = "SegueTestSupportTests/TestAppTests.swift:\(line)"
            #expect(failure?.description.lines.first == "\(place): \(failure?.reason ?? "")")
        }
        try await ended.waitUntilOpen()
    }
}
