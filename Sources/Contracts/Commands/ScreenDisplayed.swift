public import EventBus

extension Command {
    /// A view shows the state with this revision.
    public struct ScreenDisplayed: CommandMessage {
        public var revision: Int

        public init(revision: Int) {
            self.revision = revision
        }
    }
}
