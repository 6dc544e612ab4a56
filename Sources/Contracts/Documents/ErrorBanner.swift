public import EventBus

extension Document {
    /// The error that lies over whatever screen is shown; none when `error` is nil.
    public struct ErrorBanner: DocumentMessage {
        /// The id of the message that carried the error; what ``Command/ErrorDismissed`` names.
        public var errorID: String?
        public var error: ApplicationError?
        /// How many more wait behind this one.
        public var waiting: Int

        public init(errorID: String? = nil, error: ApplicationError? = nil, waiting: Int = 0) {
            self.errorID = errorID
            self.error = error
            self.waiting = waiting
        }
    }
}
