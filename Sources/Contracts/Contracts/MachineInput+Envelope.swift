public import EventBus
internal import Foundation
public import Navigation
internal import Support

extension Date {
    /// The milliseconds since 1970. Nil if the number does not fit in an `Int`.
    fileprivate var milliseconds: Int? { Int(exactly: (timeIntervalSince1970 * 1000).rounded()) }
}

extension Machine.Input {
    /// Creates a machine's input from a message of the bus. The input of a tombstone has an empty object as its data.
    /// - Returns: Nil if the data is not JSON.
    public init?(_ message: Envelope) {
        guard let data = message.isTombstone ? .object([:]) : try? JSONValue(parsing: message.data) else { return nil }
        self.init(
            id: message.id, type: message.type.description, subject: message.subject, data: data,
            attributes: Machine.Attributes(
                platform: message.attributes.platform, device: message.attributes.device,
                instance: message.attributes.instance, causationID: message.attributes.causationID,
                time: message.attributes.time.milliseconds, expiry: message.attributes.expiryTime?.milliseconds))
    }
}

extension Flow {
    /// The name of the durable consumer with which a coordinator of this flow receives messages.
    package var consumer: String { "navigation-coordinator.\(platform)" }
}
