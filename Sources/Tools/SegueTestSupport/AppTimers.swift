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
    func due(at date: Date, on bus: EventBus) async throws -> DocumentName? {
        try await all(on: bus).first { $0.time <= date.milliseconds }?.name
    }

    /// The time until the next timer is due. Nil if there is no timer.
    func next(after date: Date, on bus: EventBus) async throws -> Duration? {
        try await all(on: bus).map { $0.time - date.milliseconds }.filter { $0 > 0 }.min().map { .milliseconds($0) }
    }

    /// The documents of the timers, and the times at which they are due, in milliseconds since 1970.
    private func all(on bus: EventBus) async throws -> [(name: DocumentName, time: Int64)] {
        let types = [Document.ScheduledCommand.type, Document.Deadline.type, Document.ErrorBanner.type]
        return try await bus.documents(matching: types.map { .type($0) }).compactMap { document in
            (try time(of: document)).map { (DocumentName(document), $0) }
        }
    }

    /// Nil if no part of the app has such a timer.
    private func time(of document: Envelope) throws -> Int64? {
        let published = document.attributes.time.milliseconds
        switch document.type {
        case Document.ScheduledCommand.type:
            let scheduled = try document.decode(Document.ScheduledCommand.self)
            return consumers.contains(scheduled.consumer) ? scheduled.at.milliseconds : nil
        case Document.Deadline.type:
            let deadline = try document.decode(Document.Deadline.self)
            return platforms.contains(deadline.platform) ? published + max(0, deadline.delay) : nil
        default:
            let error = try document.decode(Document.ErrorBanner.self).error
            return error.map { published + Int64($0.severity.displayTime.milliseconds) }
        }
    }
}
