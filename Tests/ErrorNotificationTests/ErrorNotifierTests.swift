import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import SegueTestSupport
import TestSupport
import Testing

@testable import ErrorNotification

@Suite("Error notifier")
struct ErrorNotifierTests {
    let hub = InMemoryHub(maximumGap: 1000)
    /// A process that publishes errors.
    let service: EventBus
    let clock = ManualClock()

    init() {
        service = EventBus.inMemory(source: "music-service/1", hub: hub)
    }

    private func notifier() -> ErrorNotifier {
        ErrorNotifier(
            bus: EventBus.inMemory(source: "error-notifier/1", hub: hub), logger: .silent,
            clock: ServiceClock(clock: clock))
    }

    @discardableResult
    private func fail(
        _ message: String, severity: ApplicationError.Severity = .error, session: String = Session.default
    ) async throws -> Envelope {
        try await service.publish(
            ApplicationError(code: "test", message: message, severity: severity), subject: session)
    }

    /// Waits until the banner shows the error with this message, or no error if `message` is nil.
    @discardableResult
    private func banner(
        _ message: String?, waiting: Int = 0, session: String = Session.default
    ) async throws -> Document.ErrorBanner {
        let filter = MessageFilter.type(Document.ErrorBanner.self, subject: session)
        return try await service.withSubscription(to: [filter], from: .retained) { messages in
            for try await envelope in messages {
                let banner = try envelope.decode(Document.ErrorBanner.self)
                if banner.error?.message == message, banner.waiting == waiting { return banner }
            }
            throw CancellationError()
        }
    }

    @Test("An error of any process is shown, and hidden when it is dismissed")
    func showAndDismiss() async throws {
        try await withRunning(notifier()) {
            let error = try await fail("no device")
            let banner = try await banner("no device")
            #expect(banner.errorID == error.id)
            #expect(banner.error?.code == "test")
            try await service.send(Command.ErrorDismissed(errorID: error.id))
            try await self.banner(nil)
        }
    }

    @Test(
        "An error is hidden by a message of the notifier when its time has passed",
        arguments: ApplicationError.Severity.allCases)
    func timeIsUp(severity: ApplicationError.Severity) async throws {
        try await withRunning(notifier()) {
            let error = try await fail("no device", severity: severity)
            try await banner("no device")
            try await clock.sleepers()
            clock.advance(by: severity.displayTime - .milliseconds(1))
            #expect(try await service.journalled(Command.ErrorDismissed.self).isEmpty)
            clock.advance(by: .milliseconds(1))
            try await banner(nil)
            let dismissed = try await service.journalled(Command.ErrorDismissed.self)
            #expect(try dismissed.map { try $0.decode(Command.ErrorDismissed.self).errorID } == [error.id])
        }
    }

    @Test("Errors are shown one after another")
    func queue() async throws {
        try await withRunning(notifier()) {
            let first = try await fail("first")
            try await fail("second")
            try await banner("first", waiting: 1)
            try await service.send(Command.ErrorDismissed(errorID: first.id))
            try await banner("second")
            // The timer of the first error still runs. When it ends, there is nothing to do.
            try await clock.sleepers(2)
            clock.advance(by: .seconds(10))
            try await banner(nil)
        }
        #expect(try await service.journalled(Command.ErrorDismissed.self).count == 2)
    }

    @Test("The errors of two sessions are separate")
    func sessions() async throws {
        try await withRunning(notifier()) {
            let one = try await fail("one's", session: "one")
            try await fail("two's", session: "two")
            try await banner("one's", session: "one")
            try await banner("two's", session: "two")
            try await service.send(Command.ErrorDismissed(errorID: one.id), subject: "one")
            try await banner(nil, session: "one")
            try await banner("two's", session: "two")
        }
    }

    @Test("A restarted notifier hides the shown error in time, and shows the waiting ones")
    func restart() async throws {
        try await withRunning(notifier()) {
            try await fail("first")
            try await fail("second")
            try await banner("first", waiting: 1)
        }
        try await withRunning(notifier()) {
            try await fail("third")
            try await banner("first", waiting: 2)
            for next in [("second", 1), ("third", 0), (nil, 0)] {
                try await clock.sleepers()
                clock.advance(by: .seconds(10))
                try await banner(next.0, waiting: next.1)
            }
        }
    }

    @Test("An error that is dropped because too many wait is reported")
    func full() async throws {
        try await withRunning(notifier()) {
            for number in 0...ErrorQueue.capacity { try await fail("\(number)") }
            let last = try await fail("one too many")
            let discarded = try await service.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).messageID == last.id)
        }
    }

    @Test("A dismissal that is too late is reported")
    func lateDismissal() async throws {
        try await withRunning(notifier()) {
            let late = try await service.send(Command.ErrorDismissed(errorID: "gone"))
            let discarded = try await service.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).messageID == late.id)
        }
    }

    @Test("A late error of an ended session leaves no documents, and errors are shown when it begins again")
    func endedSession() async throws {
        try await withRunning(notifier()) {
            try await fail("shown", session: "one")
            try await banner("shown", session: "one")
            try await service.publish(DomainEvent.SessionEnded(), subject: "one")
            try await fail("late", session: "one")
            try await service.send(Command.ErrorDismissed(errorID: "late"), subject: "one")
            _ = try await service.received(DomainEvent.MessageDiscarded.self)
            for type in [Document.ErrorBanner.type, Document.ErrorQueueState.type] {
                #expect(try await service.documents(matching: [.type(type, subject: "one")]).isEmpty)
            }
            try await service.publish(DomainEvent.LaunchFinished(), subject: "one")
            try await fail("new", session: "one")
            try await banner("new", session: "one")
        }
    }

    @Test("No error is published about an unreadable error, and the next one is shown")
    func malformed() async throws {
        try await withRunning(notifier()) {
            let attributes = Attributes(type: ApplicationError.type, source: "stranger/1")
            try await service.publish(Batch([Envelope(attributes: attributes, data: Data("{}".utf8))]))
            try await fail("readable")
            try await banner("readable")
        }
        #expect(try await service.journalled(ApplicationError.self).count == 2)
        #expect(try await service.journalled(DomainEvent.MessageDiscarded.self).count == 1)
    }
}
