import Contracts
import EventBus
import Navigation
import Support
import Testing

@testable import SegueTestSupport

extension Command {
    fileprivate struct OrderPlaced: CommandMessage { var kind: String }
}

extension DomainEvent {
    fileprivate struct OrderServed: EventMessage { var kind: String }
}

@Suite("Failures of a test of a bus", .timeLimit(.minutes(1)))
struct FailureTextTests {
    private let hub = InMemoryHub()
    private let observer: BusObserver

    init() {
        observer = BusObserver(EventBus.inMemory(source: "test/1", hub: hub), deadline: .milliseconds(20))
    }

    private func failure(_ body: @escaping @Sendable (BusObserver) async throws -> Void) async -> String {
        let error = await #expect(throws: StackFailure.self) {
            try await observer.whileRecording { try await body(observer) }
        }
        return error?.description ?? ""
    }

    /// Waits until the observer has received a number of messages, however long that takes.
    private func waitUntilRecorded(_ count: Int) async throws {
        try await observer.until("the messages arrive", deadline: .seconds(60)) { $0.count >= count }
    }

    private static func machine(_ platform: String) throws -> Machine {
        let flow = try Flow("shop", version: 1, platform: platform, start: "list") {
            Flow.Screen("list")
            Flow.Screen("item")
            Flow.Transition(on: "command.OrderPlaced", do: [.push(.screen("item", ["kind": "${data.kind}"]))])
        }
        return Machine(flow: flow)
    }

    @Test("A failure has the line of the test, what it waited for, the states and the happenings")
    func golden() async throws {
        let line = #line + 13
        let text = await failure { observer in
            let coordinator = EventBus.inMemory(source: "coordinator/1", hub: hub)
            var phone = try Self.machine("ios")
            let order = try await observer.bus.send(
                Command.OrderPlaced(kind: "lungo"), origin: Origin(platform: "ios", device: "phone", instance: "list-1")
            )
            if let input = Machine.Input(order) { _ = phone.handle(input) }
            try await coordinator.publish(Document.NavigationState(phone.snapshot), causedBy: order)
            try await coordinator.publish(Document.NavigationState(Self.machine("mac").snapshot))
            let bar = EventBus.inMemory(source: "bar/1", hub: hub)
            try await bar.publish(DomainEvent.OrderServed(kind: "espresso"), causedBy: order)
            try await waitUntilRecorded(4)
            try await observer.message(DomainEvent.OrderServed.self, after: order) { $0.kind == "lungo" }
        }
        let page = try TestingPage.text()
        let shown = try #require(page.firstMatch(of: #/(?s)```console\n(.*?)\n```/#)?.1)
        #expect(
            text
                == shown.replacing(
                    "AppTests/StoryTests.swift:17: waited 10s",
                    with: "SegueTestSupportTests/FailureTextTests.swift:\(line): waited 20ms"))
    }

    @Test("A failure names the existing documents or answers")
    func found() async throws {
        let texts = await [
            failure { _ = try await $0.document(Document.ErrorBanner.self, key: "a") { _ in true } },
            failure { observer in
                try await observer.bus.publish(Document.ErrorBanner())
                try await waitUntilRecorded(1)
                try await observer.document(Document.ErrorBanner.self) { $0.error?.code == "late" }
            },
            failure { observer in
                let order = try await observer.bus.send(Command.OrderPlaced(kind: "tea"), subject: "anna")
                _ = try await observer.answer(to: order)
            },
            failure { try await $0.until("all is well") { _ in false } },
        ].map { text in
            let line = text.split(separator: "\n").first ?? ""
            return line.split(separator: ": waited 20ms for ").last.map(String.init) ?? ""
        }
        #expect(
            texts == [
                "document.ErrorBanner a: there is none", #"document.ErrorBanner: it does not fit: {"waiting":0}"#,
                "an event or error in answer to command.OrderPlaced of the session anna: none arrived",
                "the condition 'all is well': it is not met",
            ])
    }

    @Test("A failure has the happenings of its session, and a limited length")
    func bounded() async throws {
        let text = await failure { observer in
            let hostile = String(repeating: "x", count: 10_000) + "\u{1B}[2J\nLogs: /etc/passwd"
            for number in 1...30 {
                let bus = EventBus.inMemory(source: "shop/\(number)", hub: hub)
                try await bus.publish(Document.NavigationState(Self.machine("platform-\(number)").snapshot))
                try await bus.publish(DomainEvent.OrderServed(kind: "\u{1B}\n\(hostile)"))
                try await bus.publish(DomainEvent.OrderServed(kind: "another"), subject: "anna")
            }
            try await waitUntilRecorded(90)
            try await observer.document(Document.ErrorBanner.self) { _ in true }
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 1 + 8 + 12, "\(text)")
        #expect(lines.allSatisfy { $0.count <= 170 && !$0.contains("\u{1B}") && !$0.hasPrefix("Logs:") }, "\(text)")
        #expect(lines.contains("  … and 24 more") && lines.contains("  (50 earlier ones)") && !text.contains("anna"))
    }

    @Test("A cancelled test reports that it was cancelled, and what it waited for")
    func cancelled() async throws {
        let observer = BusObserver(observer.bus, deadline: .seconds(600))
        let waiting = Task {
            try await observer.message(DomainEvent.OrderServed.self)
        }
        waiting.cancel()
        let error = await #expect(throws: StackFailure.self) { try await waiting.value }
        #expect(
            error?.reason == """
                the test was cancelled, perhaps by its time limit, while it waited for event.OrderServed: none arrived
                """)
    }

    @Test("A wait fails after 10 s, or after the time in a variable")
    func deadline() throws {
        let name = DefaultDeadline.variable
        #expect(try DefaultDeadline.value(in: [:]) == .seconds(10))
        #expect(try DefaultDeadline.value(in: [name: ""]) == .seconds(10))
        #expect(try DefaultDeadline.value(in: [name: "2m"]) == .seconds(120))
        for text in ["5", "0s", "-1s", "soon", "5s\n"] {
            let error = #expect(throws: DefaultDeadline.Invalid.self) { try DefaultDeadline.value(in: [name: text]) }
            #expect(error?.description.hasPrefix("SEGUE_TEST_DEADLINE: '\(text.first ?? " ")") == true)
        }
    }
}
