package import Contracts
internal import EventBus

extension Command {
    /// Starts the timer of the screen that it comes from.
    package struct TimerRequested: CommandMessage {
        package init() {}
    }
}

extension Document {
    /// How far the timer of a screen has come.
    package struct Timer: DocumentMessage {
        package var instance: String
        package var ticks: Int

        package init(instance: String, ticks: Int) {
            self.instance = instance
            self.ticks = ticks
        }

        package var key: String? { instance }
    }
}
