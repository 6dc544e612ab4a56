internal import EventBus

/// Who a device is on the bus.
package struct DeviceIdentity: Hashable, Sendable {
    package var platform: String
    /// Tells it from other devices of the platform.
    package var device: String
    /// The session, one user's app.
    package var subject: String
    /// The process, `name/instance`.
    package var source: String

    package init(platform: String, device: String, subject: String = Session.default, source: String) {
        self.platform = platform
        self.device = device
        self.subject = subject
        self.source = source
    }

    func origin(_ instance: String?) -> Origin {
        Origin(platform: platform, device: device, instance: instance)
    }

    /// Whether a message is for this device: for its platform, and for no other device of it.
    func isAddressed(by message: Envelope) -> Bool {
        message.attributes.platform == platform && [nil, device].contains(message.attributes.device)
    }
}
