package import Contracts
internal import EventBus

extension DomainEvent {
    /// No Spotify device is active: see the document with the devices.
    package struct SpotifyDeviceActivationRequired: EventMessage {
        package init() {}
    }
}
