/// What a subscription lacked of its messages: whoever watches a bus wants to know.
public enum SubscriptionNotice: Hashable, Sendable {
    /// The feed dropped messages of this type. They were read from the journal, so that nothing is missing.
    case recovered(MessageType, count: Int)
    /// Retention removed messages of this type, the last of them at this offset, before the subscription had read them.
    case removed(MessageType, through: UInt64)
}
