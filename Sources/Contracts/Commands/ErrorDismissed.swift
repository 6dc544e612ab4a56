public import EventBus

extension Command {
    /// A person closed the banner of this error.
    public struct ErrorDismissed: CommandMessage {
        /// The id of the message that carried the error.
        public var errorID: String

        public init(errorID: String) {
            self.errorID = errorID
        }
    }
}
