package import BusChecker
package import EventBus

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
