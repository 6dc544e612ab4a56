import CommandLineTestSupport
import Contracts
import EventBus
import Navigation
import SegueTestSupport
import Support
import Testing

extension Command {
    /// The user adds an item to the path.
    fileprivate struct ItemAdded: CommandMessage {
        var item: String
    }
}

@Suite("Session limits of navigation-coordinator")
struct CoordinatorOptionTests {
    private static let flow = """
        name: items
        version: 1
        platform: ios
        start: launch
        screens: { launch: , list: , item: }
        transitions:
          - on: event.LaunchFinished
            do: [push: list]
          - on: command.ItemAdded
            do: [push: { screen: item, arguments: { item: "${data.item}" } }]
        """

    private func withCoordinator(
        _ options: [String], _ body: @escaping @Sendable (TestStack) async throws -> Void
    ) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.flow, to: "items.yaml")
            let command = ["navigation-coordinator", "--flow", "\(segue.directory)/items.yaml"] + options
            try await TestStack.with(
                [.broker, TestService("ios-coordinator", command: command, after: ["broker"])], body)
        }
    }

    private func launch(_ session: String, _ stack: TestStack) async throws {
        try await stack.bus.publish(DomainEvent.LaunchFinished(), subject: session)
        try await stack.screen("list", on: "ios", subject: session)
    }

    /// - Returns: The state to which the command leads.
    @discardableResult
    private func add(_ item: String, to session: String, _ stack: TestStack) async throws -> NavigationSnapshot {
        let command = try await stack.bus.send(Command.ItemAdded(item: item), subject: session)
        return try await stack.message(Document.NavigationState.self, after: command, subject: session) {
            $0.snapshot.cause == command.id
        }.message.snapshot
    }

    @Test(
        "With --live-sessions 1, two sessions alternate, and each is read from the bus again",
        .timeLimit(.minutes(3)))
    func live() async throws {
        try await withCoordinator(["--live-sessions", "1"]) { stack in
            for session in ["anna", "bert"] { try await launch(session, stack) }
            for round in 1...4 {
                for session in ["anna", "bert"] {
                    let snapshot = try await add("\(session)\(round)", to: session, stack)
                    #expect(snapshot.revision == round + 1)
                    let items = (1...round).map { JSONValue.string("\(session)\($0)") }
                    #expect(snapshot.state.path.dropFirst().map { $0.arguments["item"] } == items)
                }
            }

            // A coordinator that still has the machine in memory would not see this state.
            var changed = try await stack.document(Document.NavigationState.self, key: "ios", subject: "anna") { _ in
                true
            }.snapshot
            changed.revision = 50
            try await stack.bus.publish(Document.NavigationState(changed), subject: "anna")
            #expect(try await add("bert5", to: "bert", stack).revision == 6)
            #expect(try await add("anna5", to: "anna", stack).revision == 51)
        }
    }

    @Test(
        "With --session-idle, a silent session ends and its documents are withdrawn, and a session in use stays",
        .timeLimit(.minutes(3)))
    func idle() async throws {
        try await withCoordinator(["--session-idle", "6s"]) { stack in
            for session in ["anna", "bert"] { try await launch(session, stack) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Until the end of the test, so that a loaded machine does not make the session silent.
                group.addTask {
                    do { try await use("bert", stack) } catch { if !Task.isCancelled { throw error } }
                }
                try await stack.until("the state is withdrawn", deadline: .seconds(120)) { messages in
                    messages.contains {
                        $0.isTombstone && $0.type == Document.NavigationState.type && $0.subject == "anna"
                    }
                }
                #expect(
                    stack.messages.contains { $0.type == DomainEvent.SessionEnded.type && $0.subject == "anna" })
                let retained = try await stack.bus.documents(matching: [
                    .type(Document.NavigationState.self), .type(Document.Deadline.self),
                ])
                #expect(!retained.contains { $0.subject == "anna" })
                #expect(retained.contains { $0.subject == "bert" && $0.type == Document.NavigationState.type })

                let late = try await stack.bus.send(Command.ItemAdded(item: "late"), subject: "anna")
                try await stack.message(DomainEvent.MessageDiscarded.self) {
                    $0.messageID == late.id && $0.reason == "session 'anna' has not begun, or has ended"
                }
                #expect(try await add("last", to: "bert", stack).revision == 2)
                #expect(!stack.messages.contains { $0.type == DomainEvent.SessionEnded.type && $0.subject == "bert" })
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    /// Sends commands to a session until the task is cancelled. They do not change the state, so they do not lead to another
    /// document by themselves.
    private func use(_ session: String, _ stack: TestStack) async throws {
        while true {
            try Task.checkCancellation()
            let command = try await stack.bus.send(Command.BackStarted(instance: "none"), subject: session)
            try await stack.message(DomainEvent.MessageDiscarded.self, after: command) { $0.messageID == command.id }
        }
    }
}
