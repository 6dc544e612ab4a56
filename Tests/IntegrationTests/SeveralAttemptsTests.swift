import Contracts
import EventBus
import Navigation
import SegueTestSupport
import TestSupport
import Testing

extension Command {
    fileprivate struct FormSent: CommandMessage {}
    fileprivate struct PhotoSent: CommandMessage {}
    fileprivate struct StoreForm: CommandMessage {}
    fileprivate struct StorePhoto: CommandMessage {}
}

extension DomainEvent {
    fileprivate struct PhotoWanted: EventMessage {}
    fileprivate struct FormStored: EventMessage {}
    fileprivate struct PhotoKept: EventMessage {}
}

@Suite("Two screens that wait at the same time, and killed processes", .timeLimit(.minutes(3)))
struct SeveralAttemptsTests {
    private static let flow = """
        name: claim
        version: 1
        platform: ios
        start: form
        screens:
          form: { sends: [command.FormSent] }
          photo: { sends: [command.PhotoSent] }
          done:
        transitions:
          - on: command.FormSent
            guard: { ask: command.StoreForm, accept: event.FormStored, deadline: 10m }
            do: [{ push: done }]
          - { on: event.PhotoWanted, do: [{ present: { screen: photo, style: sheet } }] }
          - on: command.PhotoSent
            guard: { ask: command.StorePhoto, accept: [event.PhotoStored, event.PhotoKept], deadline: 10m }
            do: [{ dismiss: photo }]
        """

    /// Answers a question as a service does.
    private func answer(_ question: Envelope, _ event: some EventMessage, on stack: TestStack) async throws {
        try await stack.bus.publish(Batch([Envelope(event, source: "store/1", causedBy: question)]))
    }

    @Test("A form and the sheet over it wait for their own answers, also after the coordinator is killed")
    func killed() async throws {
        try await TestStack.with(flow: Self.flow) { stack, _ in
            try await stack.bus.publish(DomainEvent.LaunchFinished())
            let form = try await stack.screen("form", on: "ios").state.top.id
            try await stack.bus.send(Command.FormSent(), origin: Origin(platform: "ios", instance: form))
            try await stack.bus.publish(DomainEvent.PhotoWanted())
            let photo = try await stack.screen("photo", on: "ios").state.top.id
            try await stack.bus.send(Command.PhotoSent(), origin: Origin(platform: "ios", instance: photo))
            let waiting = try await stack.document(Document.NavigationState.self, key: "ios") {
                $0.snapshot.state.attempts.count == 2
            }.snapshot.state
            #expect(waiting.attempts.map(\.instance) == [form, photo])
            let questions = (
                form: try await stack.message(Command.StoreForm.self).envelope,
                photo: try await stack.message(Command.StorePhoto.self).envelope
            )

            try await stack.killAndRestart("ios-coordinator")
            try await answer(questions.photo, DomainEvent.PhotoKept(), on: stack)
            let state = try await stack.screen("form", on: "ios").state
            #expect(state.attempts.map(\.instance) == [form])
            try await answer(questions.form, DomainEvent.FormStored(), on: stack)
            #expect(try await stack.screen("done", on: "ios").state.attempts.isEmpty)
            for type in [Command.StoreForm.type, Command.StorePhoto.type] {
                #expect(stack.messages.count { $0.type == type } == 1, "asked once")
            }
            #expect(!stack.messages.contains { $0.type == DomainEvent.MessageDiscarded.type })
        }
    }
}
