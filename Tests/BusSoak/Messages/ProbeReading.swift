package import BusChecker
package import EventBus
internal import Foundation

extension EventBus {
    /// The values and results that the journal contains, from `start` on.
    package func journal(from start: StartPosition = .beginning) async throws -> [JournalEntry] {
        let marker = UUID().uuidString
        try await publish(ProbeMarker(id: marker))
        return try await withSubscription(to: [.all], from: start) { messages in
            var entries: [JournalEntry] = []
            // Messages before the start of the subscription are read in the order of the journal, and the marker is one
            // of them.
            for try await message in messages {
                if let entry = try JournalEntry(message) { entries.append(entry) }
                if message.type == ProbeMarker.type, try message.decode(ProbeMarker.self).id == marker { break }
            }
            return entries
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
