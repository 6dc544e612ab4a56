internal import BusChecker
package import EventBus
internal import Foundation
internal import Glibc
package import Logging
internal import TestSupport

/// Reads all values from the beginning of the journal and writes each of them, with its offset, to the history, until
/// it is asked to end. It writes a live line once for each journal.
package enum SubscriberRole {
    /// - Throws: ``BusError``; the errors of the history.
    package static func run(on bus: EventBus, history: HistoryLog) async throws {
        try await bus.withSubscription(to: Probe.filters, from: .beginning) { messages in
            try history.write([.live])
            var epoch: UInt64?
            for try await message in messages {
                guard let value = try Probe.value(in: message), let position = message.position else { continue }
                if let epoch, epoch != position.epoch { try history.write([.live]) }
                epoch = position.epoch
                let stream = Probe.stream(of: message)
                try history.write([.delivered(.init(offset: position.offset, stream: stream, value: value))])
            }
        }
    }
}

/// A member of a durable consumer. For each value it publishes one event, which contains the value.
package enum ConsumerRole {
    /// - Throws: ``BusError`` with code `fenced` if another member has taken over from an exclusive one; the errors of
    ///   the history.
    package static func run(
        group: String, mode: ConsumerMode, on bus: EventBus, history: HistoryLog, logger: Logger
    ) async throws {
        while true {
            do {
                try await bus.consume(as: group, Probe.filters, mode: mode) { message in
                    guard let value = try Probe.value(in: message) else { return [] }
                    try history.write([.handled(value)])
                    return [
                        try Envelope(
                            ProbeResult(group: group, input: "\(value)"), source: bus.source, causedBy: message)
                    ]
                }
            } catch let error as BusError where [.epoch, .journal].contains(error.code) {
                // There is another journal, or the journal cannot be written now: the next claim gives the position to
                // continue at.
                logger.warning("claiming again", metadata: ["code": "\(error.code.rawValue)", "error": "\(error)"])
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}

/// Subscribes to all events but does not read them: it blocks the thread of its bus until another process opens a named
/// pipe for writing. Then it reads the given number of events, and logs this.
package enum StalledRole {
    /// - Throws: ``BusError``.
    package static func run(
        count: Int, pipe: String, on bus: EventBus, logger: Logger
    ) async throws {
        try await bus.withSubscription(to: [.kind(.event)], from: .now) { messages in
            logger.info("subscribed")
            if let executor = bus.taskExecutor {
                await withTaskExecutorPreference(executor) { await block(until: pipe) }
            }
            logger.info("reading")
            var received = 0
            for try await _ in messages {
                received += 1
                if received == count { break }
            }
            logger.info("received \(received)")
            try await Task.sleep(for: .seconds(86400))
        }
    }

    /// Opens a pipe, which waits for the other side to open it.
    @concurrent
    private static func block(until pipe: String) async {
        _ = try? FileHandle(forReadingFrom: URL(fileURLWithPath: pipe)).close()
    }
}
