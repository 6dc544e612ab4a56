package import Contracts
internal import EventBus

extension Command {
    /// Leave for another app.
    package struct OpenAnotherAppRequested: CommandMessage {
        package var url: String

        package init(url: String) {
            self.url = url
        }
    }
}
