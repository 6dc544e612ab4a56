/// The limits of durable consumers.
package enum ConsumerLimits {
    /// The maximum number of durable consumers of a journal. Beyond it, claims of new consumers are refused.
    package static let consumers = 4096
    /// The maximum number of shared members of a consumer. Further members are refused.
    package static let members = 256
    /// The maximum number of displaced members that a consumer remembers. Beyond it the oldest one is forgotten.
    static let displaced = 16
}
