internal import Contracts
internal import ErrorNotification
internal import EventBus
internal import Foundation
internal import Support

/// The timers of an app in memory, by the documents that record them.
struct AppTimers: Sendable {
    let platforms: Set<String>
    /// The durable consumers that schedule commands.
    let consumers: Set<String>

    /// The document of a timer that is due at a time. Nil if there is none.
    /// - Parameter messages: All messages so far.
    func due(at date: Date, on bus: EventBus, in messages: [Envelope]) async throws -> DocumentName? {
        try await all(on: bus, messages).first { $0.time <= date.milliseconds }?.name
    }

    /// The time until the next timer is due. Nil if there is no timer.
    /// - Parameter messages: All messages so far.
    func next(after date: Date, on bus: EventBus, in messages: [Envelope]) async throws -> Duration? {
        try await all(on: bus, messages).map { $0.time - date.milliseconds }.filter { $0 > 0 }.min()
            .map { .milliseconds($0) }
    }

    /// The documents of the timers, and the times at which they are due, in milliseconds since 1970.
    private func all(on bus: EventBus, _ messages: [Envelope]) async throws -> [(name: DocumentName, time: Int64)] {
        let types = [Document.ScheduledCommand.type, Document.Deadline.type, Document.ErrorBanner.type]
        return try await bus.documents(matching: types.map { .type($0) }).compactMap { document in
            time(of: document, messages).map { (DocumentName(document), $0) }
        }
    }

    /// Nil if no part of the app has such a timer.
    private func time(of document: Envelope, _ messages: [Envelope]) -> Int64? {
        switch document.type {
        case Document.ScheduledCommand.type:
            guard let scheduled = try? document.decode(Document.ScheduledCommand.self),
                consumers.contains(scheduled.consumer)
            else { return nil }
            return scheduled.at.milliseconds
        case Document.Deadline.type:
            guard let deadline = try? document.decode(Document.Deadline.self), platforms.contains(deadline.platform)
            else { return nil }
            return document.attributes.time.milliseconds + max(0, deadline.delay)
        default:
            guard let banner = try? document.decode(Document.ErrorBanner.self), let error = banner.error else {
                return nil
            }
            return Self.beginning(of: banner, document, messages) + Int64(error.severity.displayTime.milliseconds)
        }
    }

    /// The time at which a banner began to show its error. Further errors that wait change the document, but not this.
    private static func beginning(
        of banner: Document.ErrorBanner, _ document: Envelope, _ messages: [Envelope]
    ) -> Int64 {
        let banners = messages.reversed().lazy.filter { $0.type == document.type && $0.subject == document.subject }
        let same = banners.prefix { (try? $0.decode(Document.ErrorBanner.self))?.errorID == banner.errorID }
        return (same.map(\.attributes.time).min() ?? document.attributes.time).milliseconds
    }
}
