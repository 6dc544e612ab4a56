package import Contracts
internal import EventBus

extension Document {
    /// The devices that could play.
    package struct Devices: DocumentMessage {
        package var devices: [Device]

        package init(devices: [Device]) {
            self.devices = devices
        }
    }
}
