/// What whoever measures can choose.
package struct BenchmarkOptions: Sendable {
    /// How many messages a round can have at most.
    package static let messagesLimit = Payload.messagesLimit

    /// How often both sides are measured, in turns; the median counts.
    package var rounds: Int
    /// Messages of one round; nil for each benchmark's own number.
    package var messages: Int?
    /// What a journalled message survives, on both sides.
    package var durability: Durability

    package init(rounds: Int = 5, messages: Int? = nil, durability: Durability = .process) {
        self.rounds = rounds
        self.messages = messages
        self.durability = durability
    }
}
