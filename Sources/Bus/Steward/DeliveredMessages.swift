internal import NATS

/// The messages that a consumer has delivered, as a value without side effects. None may be lost on its way: the server
/// would seem to lack it.
struct DeliveredMessages: Hashable {
    private var count = 0

    /// Records a message with its number among those of the consumer.
    mutating func record(_ number: Int) throws(NATSError) {
        count += 1
        guard number == count else { throw Self.loss }
    }

    /// Checks that a consumer that is idle has delivered everything.
    /// - Parameter last: The number of its last message, as it says; nil if it does not say it.
    func end(after last: Int?) throws(NATSError) {
        guard last ?? 0 <= count else { throw Self.loss }
    }

    private static var loss: NATSError { NATSError(.disconnected, "messages were lost on their way") }
}
