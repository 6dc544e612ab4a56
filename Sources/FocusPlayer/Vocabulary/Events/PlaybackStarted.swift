package import Contracts
internal import EventBus

extension DomainEvent {
    /// Music plays.
    package struct PlaybackStarted: EventMessage {
        package init() {}
    }
}
