package import BusChecker
package import EventBus
internal import Foundation
internal import Navigation

extension EventBus {
    /// The values and results that the journal contains, from `start` on.
    package func journal(from start: StartPosition = .beginning) async throws -> [JournalEntry] {
        try await read([.all], from: start, JournalEntry.init)
    }

    /// The messages of the navigation that the journal contains.
    func navigation() async throws -> [NavigationEntry] {
        try await read(NavigationEntry.filters + [.type(ProbeMarker.self)], from: .beginning, NavigationEntry.init)
    }

    /// The messages about timers that the journal contains.
    func timers() async throws -> [TimerEntry] {
        try await read(TimerEntry.filters + [.type(ProbeMarker.self)], from: .beginning, TimerEntry.init)
    }

    /// Reads the journal up to its end at the time of the call.
    private func read<Entry: Sendable>(
        _ filters: [MessageFilter], from start: StartPosition,
        _ entry: @escaping @Sendable (Envelope) throws -> Entry?
    ) async throws -> [Entry] {
        let marker = ProbeMarker(id: UUID().uuidString)
        try await publish(marker)
        return try await withSubscription(to: filters, from: start) { messages in
            var entries: [Entry] = []
            // Messages before the start of the subscription are read in the order of the journal, and the marker is one
            // of them.
            for try await message in messages {
                if let entry = try entry(message) { entries.append(entry) }
                if try marker.isContent(of: message) { break }
            }
            return entries
        }
    }

    /// Returns when nothing is left to do: each message of publishers up to now has led to its results.
    func waitUntilSettled(_ replay: some JournalReplay) async throws {
        let marker = ProbeMarker(id: UUID().uuidString)
        try await publish(marker)
        try await withSubscription(to: replay.filters + [.type(ProbeMarker.self)], from: .beginning) { messages in
            var replay = replay
            var hasPassed = false
            for try await message in messages {
                try replay.handle(message)
                if !hasPassed { hasPassed = try marker.isContent(of: message) }
                if hasPassed, replay.isSettled { break }
            }
        }
    }

    /// Returns when each of `groups` has committed a result for each of `inputs`.
    package func results(of inputs: Set<Value>, by groups: Set<String>) async throws {
        var missing = Dictionary(groups.map { ($0, inputs) }) { first, _ in first }.filter { !$1.isEmpty }
        guard !missing.isEmpty else { return }
        try await withSubscription(to: [.type(ProbeResult.self)], from: .beginning) { messages in
            for try await message in messages {
                guard case .result(let group, let input) = try JournalEntry(message)?.content else { continue }
                missing[group]?.remove(input)
                if missing[group]?.isEmpty == true { missing[group] = nil }
                if missing.isEmpty { break }
            }
        }
    }
}

/// A replay of a part of the journal.
protocol JournalReplay: Sendable {
    var filters: [MessageFilter] { get }
    /// True if all messages so far have led to their results, and nothing is open.
    var isSettled: Bool { get }
    mutating func handle(_ message: Envelope) throws
}

extension NavigationReplay: JournalReplay {
    var filters: [MessageFilter] { NavigationEntry.filters }

    mutating func handle(_ message: Envelope) throws {
        if let entry = try NavigationEntry(message) { handle(entry) }
    }
}

extension TimerReplay: JournalReplay {
    var filters: [MessageFilter] { TimerEntry.filters }

    mutating func handle(_ message: Envelope) throws {
        if let entry = try TimerEntry(message) { handle(entry) }
    }
}

extension ProbeMarker {
    fileprivate func isContent(of message: Envelope) throws -> Bool {
        try message.type == Self.type && message.decode(Self.self).id == id
    }
}

extension JournalEntry {
    /// The message as an entry for the checker; nil if it is not a message of the test.
    package init?(_ message: Envelope) throws {
        guard let offset = message.position?.offset else { return nil }
        if message.type == ProbeResult.type {
            let result = try message.decode(ProbeResult.self)
            guard let input = Value(result.input) else { return nil }
            self.init(
                offset: offset, stream: Probe.stream(of: message), content: .result(group: result.group, input: input))
        } else if let value = try Probe.value(in: message) {
            self.init(offset: offset, stream: Probe.stream(of: message), content: .value(value))
        } else {
            return nil
        }
    }
}
