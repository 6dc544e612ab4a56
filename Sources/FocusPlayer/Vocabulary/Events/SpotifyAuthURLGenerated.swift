package import Contracts
internal import EventBus

extension DomainEvent {
    /// A person has to consent at this URL.
    package struct SpotifyAuthURLGenerated: EventMessage {
        package var url: String

        package init(url: String) {
            self.url = url
        }
    }
}
