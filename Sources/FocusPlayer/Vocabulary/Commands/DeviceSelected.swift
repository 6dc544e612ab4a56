package import Contracts
internal import EventBus

extension Command {
    /// Play on this device.
    package struct DeviceSelected: CommandMessage {
        package var deviceID: String

        package init(deviceID: String) {
            self.deviceID = deviceID
        }
    }
}
