import Contracts
import ErrorNotification
import EventBus
import Logging
import Testing

/// Shows the errors of all processes in banners until the task is cancelled.
func showErrors(on bus: EventBus) async throws {
    try await ErrorNotifier(bus: bus, logger: Logger(label: "error-notifier")).run()
}

/// Reports an error, as any process can do.
func reportDeclinedCard(on bus: EventBus) async throws {
    try await bus.publish(
        ApplicationError(code: "card.declined", message: "The card was declined.", recovery: "try another card"))
}

@Suite("Program of the page of ErrorNotification")
struct ErrorNotificationProgramTests {
    @Test("The error is in the banner")
    func banner() async throws {
        let hub = InMemoryHub()
        let till = EventBus.inMemory(source: "till/1", hub: hub)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await showErrors(on: .inMemory(source: "error-notifier/1", hub: hub)) }
            try await reportDeclinedCard(on: till)
            let filter = MessageFilter.type(Document.ErrorBanner.self)
            let code = try await till.withSubscription(to: [filter], from: .retained) { messages in
                for try await message in messages {
                    if let error = try message.decode(Document.ErrorBanner.self).error { return error.code }
                }
                throw CancellationError()
            }
            #expect(code == "card.declined")
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
    }
}
