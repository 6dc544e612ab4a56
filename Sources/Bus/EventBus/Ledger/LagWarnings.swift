/// The consumers that were warned because they have not handled the oldest fifth of a journal that is four fifths full.
package struct LagWarnings: Sendable {
    private let journal: String
    private let unit: String
    private var warned: Set<String> = []

    /// - Parameters:
    ///   - journal: The name of the journal for people.
    ///   - unit: The unit of the positions: `offset` or `sequence`.
    package init(of journal: String, unit: String) {
        self.journal = journal
        self.unit = unit
    }

    /// Returns the warnings that are due, by the name of the consumer. A consumer is warned again after it has handled
    /// half of the journal, or after the journal has shrunk below 70 %.
    /// - Parameters:
    ///   - position: The position of a consumer; nil if it does not exist.
    ///   - oldest: The position of the oldest message.
    ///   - used: The size of the journal in bytes.
    package mutating func update(
        _ consumers: some Sequence<String>, _ position: (String) -> UInt64?, oldest: UInt64, end: UInt64, used: Int,
        limit: Int
    ) -> [String] {
        let length = end - min(oldest, end)
        warned = used < limit / 10 * 7 ? [] : warned.filter { position($0).map { $0 < oldest + length / 2 } ?? false }
        guard used >= limit / 10 * 8 else { return [] }
        return consumers.sorted().compactMap { consumer in
            guard let position = position(consumer), position < oldest + length / 5,
                warned.insert(consumer).inserted
            else { return nil }
            return "consumer '\(consumer)' has handled only up to \(unit) \(position) of \(end), and the journal "
                + "\(journal) is \(used * 100 / limit) % full: start the consumer or find out why it lags, because at "
                + "100 % it loses messages"
        }
    }

    /// Forgets a consumer that was removed.
    package mutating func forget(_ consumer: String) { warned.remove(consumer) }
}
