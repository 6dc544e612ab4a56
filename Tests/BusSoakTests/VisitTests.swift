import Contracts
import EventBus
import FlowFiles
import Navigation
import Testing

@testable import BusSoak

@Suite("Messages of a visit")
struct VisitTests {
    /// A machine that handles the messages of a visit, and the messages that it has handled.
    private struct Session {
        var machine: Machine
        var visit = Visit(session: "visitor", source: "visitor/1")
        var screens: Set<String> = []
        var reported: Set<String> = []
        var left: Set<String> = []

        mutating func handle(_ message: Envelope) throws {
            _ = machine.handle(try #require(Machine.Input(message)))
            screens.formUnion(machine.state.open.map(\.screen))
        }

        /// One turn of the visit.
        mutating func turn() throws {
            let messages = try visit.next()
            for message in messages.dropLast() {
                if message.type == Command.ScreenGone.type {
                    reported.insert(try message.decode(Command.ScreenGone.self).instance)
                }
                try handle(message)
            }
            let revision = machine.revision
            try handle(try #require(messages.last))
            #expect(machine.revision > revision, "the visit waits for the state of its last message")
            visit.apply(machine.snapshot)
        }

        /// Processes all open deadlines, as a coordinator does.
        mutating func processDeadlines() throws {
            // The queue of an attempt may begin another one.
            while let attempt = machine.state.attempt {
                let passed = DomainEvent.GuardDeadlinePassed(attempt: attempt.id)
                try handle(Envelope(passed, source: "test/1", subject: "visitor"))
            }
            for screen in machine.state.leaving {
                left.insert(screen.id)
                try handle(Envelope(Command.ScreenGone(instance: screen.id), source: "test/1", subject: "visitor"))
            }
            visit.apply(machine.snapshot)
        }
    }

    @Test("The last message changes the state, and some screens and attempts are left to deadlines")
    func reactions() throws {
        let flow = try Flow(yaml: Visit.flow, file: "soak")
        var session = Session(machine: Machine(flow: flow, session: "visitor"))
        for _ in 0..<20 {
            for _ in 0..<5 { try session.turn() }
            try session.processDeadlines()
        }
        #expect(session.screens == ["tabs", "left", "right", "sheet", "answered", "unanswered"])
        #expect(session.reported.count > 5 && session.left.count > 5)
    }

    @Test("The messages have values as ids, in order")
    func values() throws {
        var visit = Visit(session: "visitor1.2.0", source: "visitor/1")
        let ids = try (1...4).flatMap { _ in try visit.next() }.map(\.id)
        #expect(ids == (1...ids.count).map { "visitor1.2.0/\($0)" })
    }
}
