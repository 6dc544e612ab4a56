internal import EventBus
internal import Foundation
internal import Navigation

extension Machine.Input {
    /// A message of the bus as a machine sees it. A withdrawn document is one without fields.
    /// - Returns: nil if its data is not JSON.
    init?(_ message: Envelope) {
        guard let data = message.isTombstone ? .object([:]) : try? JSONValue(parsing: message.data) else { return nil }
        self.init(
            id: message.id, type: message.type.description, subject: message.subject, data: data,
            attributes: Machine.Attributes(
                platform: message.attributes.platform, device: message.attributes.device,
                instance: message.attributes.instance,
                time: message.attributes.time.wholeMilliseconds))
    }
}

extension Date {
    /// Since 1970; nothing that a stranger may write as a time is beyond it.
    fileprivate var wholeMilliseconds: Int {
        Int(exactly: (timeIntervalSince1970 * 1000).rounded(.down)) ?? 0
    }
}
