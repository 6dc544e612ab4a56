package import BusChecker
package import EventBus
internal import Foundation

extension EventBus {
    /// Everything of ours that the journal holds.
    package func journal(from start: StartPosition = .beginning) async throws -> [JournalEntry] {
        let marker = UUID().uuidString
        try await publish(ProbeMarker(id: marker))
        return try await withSubscription(to: [.all], from: start) { messages in
            var entries: [JournalEntry] = []
            // What was journalled before the subscription began is read in the journal's order, and the marker was.
            for try await message in messages {
                if let entry = try JournalEntry(message) { entries.append(entry) }
                if message.type == ProbeMarker.type, try message.decode(ProbeMarker.self).id == marker { break }
            }
            return entries
        }
    }

    /// Returns when every one of `groups` has committed a result for every one of `inputs`.
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
    /// What the checker wants to know of a message; nil if it is none of ours.
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
