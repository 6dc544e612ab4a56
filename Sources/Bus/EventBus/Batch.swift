/// Messages that are journalled all or not at all, with the consumer's progress that produced them.
public struct Batch: Sendable {
    public var messages: [Envelope]
    public var checkpoint: Checkpoint?
    /// Why the message of the checkpoint could not be handled: it is kept as a dead letter.
    public var rejection: Rejection?
    /// Ids of dead letters that are settled by this batch and go.
    public var settledLetters: [Int64] = []
    /// Whether the documents among the messages are withdrawn by the bus once the publisher stops answering.
    public var isLeased: Bool
    /// Whether the messages are for whoever listens now: they are not journalled, have no position, may be lost, and are
    /// never documents.
    public var isTransient: Bool

    public init(
        _ messages: [Envelope], checkpoint: Checkpoint? = nil, rejection: Rejection? = nil, isLeased: Bool = false,
        isTransient: Bool = false
    ) {
        self.messages = messages
        self.checkpoint = checkpoint
        self.rejection = rejection
        self.isLeased = isLeased
        self.isTransient = isTransient
    }

    /// Checks all but its messages.
    /// - Throws: ``BusError`` with code `refused` for what no bus takes.
    package func validate() throws(BusError) {
        guard messages.count <= Limits.batchCount, settledLetters.count <= Limits.batchCount else {
            throw BusError(
                .refused, "a batch has at most \(Limits.batchCount) messages, and settles as many dead letters")
        }
        guard rejection == nil || checkpoint != nil else {
            throw BusError(.refused, "a rejection needs the checkpoint of what is rejected")
        }
        guard !isTransient || checkpoint == nil && settledLetters.isEmpty && !isLeased else {
            throw BusError(.refused, "a transient batch has nothing but messages")
        }
    }

    /// Checks the messages, as a broker's client does when it packs them.
    func validateMessages() throws(BusError) {
        do {
            for message in messages {
                try Rules.checkPublishing(message.type, isTransient: isTransient)
                try message.check(isTransient: isTransient)
            }
        } catch {
            throw BusError(error)
        }
    }
}
