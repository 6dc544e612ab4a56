import EventBus
import Foundation

extension Envelope {
    /// A message of 1 March 2026, 12:34:56.789 UTC.
    static func fixed(
        _ type: String, _ data: String = "{}", source: String = "device/1",
        _ change: (inout Attributes) -> Void = { _ in }
    ) throws -> Envelope {
        guard let type = MessageType(type) else { throw BusError(.malformed, "'\(type)' is no type") }
        var attributes = Attributes(
            type: type, source: source, id: "m1", time: Date(timeIntervalSince1970: 1_772_368_496.789))
        // As the rest of it, the trace has to be the same at each run.
        attributes.traceparent = nil
        change(&attributes)
        return Envelope(attributes: attributes, data: Data(data.utf8), position: Position(epoch: 0xAB, offset: 17))
    }
}
