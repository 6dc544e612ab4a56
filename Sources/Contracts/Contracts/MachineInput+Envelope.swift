public import EventBus
internal import Foundation
public import Navigation
internal import Support

extension Date {
    /// Since 1970; nil for a date that no clock will ever show.
    fileprivate var milliseconds: Int? { Int(exactly: (timeIntervalSince1970 * 1000).rounded()) }
}

extension Machine.Input {
    /// A message of the bus as a machine sees it. A withdrawn document is one without fields.
    /// - Returns: nil if its data is not JSON.
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
    /// The durable consumer as which a coordinator of this flow hears messages.
    package var consumer: String { "navigation-coordinator.\(platform)" }
}
