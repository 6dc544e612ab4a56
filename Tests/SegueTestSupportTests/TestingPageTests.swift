import Consuming
import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import Support
import Testing

@testable import greeter

extension Command {
    fileprivate struct TeaOrdered: CommandMessage { var kind: String }
    fileprivate struct TeaDue: CommandMessage { var kind: String }
}

extension DomainEvent {
    fileprivate struct TeaServed: EventMessage { var kind: String }
}

/// The page docs/testing.md.
enum TestingPage {
    static func text() throws -> String {
        let file = URL(filePath: #filePath).appending(path: "../../../docs/testing.md").standardizedFileURL
        return try String(contentsOf: file, encoding: .utf8)
    }
}

@Suite("Samples of docs/testing.md", .timeLimit(.minutes(3)))
struct TestingPageTests {
    private let folder = URL(filePath: #filePath).appending(path: "../../../Examples/Coffee").standardizedFileURL.path

    @Test("The counter's scenarios pass")
    func scenarios() throws {
        try Scenarios.run(flow: "\(folder)/flow.yaml", scenarios: "\(folder)/scenarios")
    }

    private let kitchen = Handlers("kitchen")
        .on(Command.TeaOrdered.self, sends: Command.TeaDue.self) { order, _ in
            [.later(Command.TeaDue(kind: order.kind), after: .seconds(180))]
        }
        .on(Command.TeaDue.self, sends: DomainEvent.TeaServed.self) { tea, _ in
            [DomainEvent.TeaServed(kind: tea.kind)]
        }

    @Test("Tea is served after three minutes")
    func tea() async throws {
        let app = try await TestApp(flow: teaFlow(), kitchen)
        try await app.send(Command.TeaOrdered(kind: "oolong"))
        #expect(try await app.screen == "menu")
        try await app.advance(by: .seconds(180))
        #expect(try await app.screen == "cup(kind: oolong)")
    }

    private func teaFlow() throws -> Flow {
        try Flow("tea", version: 1, platform: "counter", start: "menu") {
            Flow.Screen("menu", sends: ["command.TeaOrdered"])
            Flow.Screen("cup")
            Flow.Transition(on: "event.TeaServed", do: [.push(.screen("cup", ["kind": "${data.kind}"]))])
        }
    }

    @Test("A guest who arrives while the greeter is killed is welcomed once")
    func killed() async throws {
        try await TestStack.with([.broker, TestService("greeter", after: ["broker"])]) { stack in
            let arrival = try await stack.bus.send(Command.GuestArrived(name: "Ada"))
            try await stack.killAndRestart("greeter")
            let welcome = try await stack.answer(to: arrival)
            #expect(try welcome.decode(DomainEvent.GuestWelcomed.self).text == "Welcome, Ada!")
            #expect(stack.messages.filter { $0.type == DomainEvent.GuestWelcomed.type }.count == 1)
        }
    }

    @Test("A helper passes on the line of its caller")
    func helper() async throws {
        let line = #line + 4
        do {
            // The deadline is also that of the start of the broker, on any machine.
            try await TestStack.with([.broker], deadline: .seconds(10)) { stack in
                try await waitUntilGreeted("Ada", on: stack)
            }
            Issue.record("nobody has greeted, but the helper has returned")
        } catch let failure as StackFailure {
            if let file = failure.logFile { try? FileManager.default.removeItem(atPath: file) }
            let start = "SegueTestSupportTests/TestingPageTests.swift:\(line): waited 10s for event.GuestWelcomed: none"
            #expect(failure.description.hasPrefix(start), "\(failure)")
        }
    }

    private func waitUntilGreeted(
        _ name: String, on stack: TestStack, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await stack.message(DomainEvent.GuestWelcomed.self, fileID: fileID, line: line) {
            $0.text == "Welcome, \(name)!"
        }
    }

    @Test("The page has at most 800 words")
    func length() throws {
        let page = try TestingPage.text()
        #expect(page.split(whereSeparator: \.isWhitespace).count <= 800)
    }
}
