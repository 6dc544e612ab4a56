package import EventBus
package import Foundation

/// What a trace needs to know of a message.
package struct TracedMessage: Hashable, Sendable {
    package let id: String
    package let cause: String?
    package let type: MessageType
    package let key: String?
    /// The process that published it: `name/instance`.
    package let source: String
    package let platform: String?
    package let time: Date
    package let position: Position?
    /// The W3C trace that it says it belongs to; nil if it says none that can be read.
    package let trace: String?

    package init(_ message: Envelope) {
        let attributes = message.attributes
        id = attributes.id
        cause = attributes.causationID
        type = attributes.type
        key = attributes.key
        source = attributes.source
        platform = attributes.platform
        time = attributes.time
        position = message.position
        trace = attributes.traceparent.flatMap(TraceContext.init(parsing:))?.traceID
    }

    /// Earlier ones first; what was said in the same millisecond in the order of the journal.
    static func isEarlier(_ left: TracedMessage, _ right: TracedMessage) -> Bool {
        guard left.time == right.time else { return left.time < right.time }
        return (left.position?.offset ?? 0, left.id) < (right.position?.offset ?? 0, right.id)
    }
}
