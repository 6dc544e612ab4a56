extension Checker {
    /// What a reader saw of each stream is the beginning of that stream in the journal; all of it, if it lived to the end.
    func findings(of reader: Reader) -> [Finding] {
        let streams = Dictionary(grouping: entries, by: \.entry.stream)
        let seen = Dictionary(grouping: reader.deliveries, by: \.stream)
        return Set(streams.keys).union(seen.keys).sorted().flatMap { stream in
            compare(seen[stream] ?? [], with: streams[stream] ?? [], reader)
        }
    }

    private func compare(
        _ deliveries: [Delivery], with expected: [(value: Value, entry: JournalEntry)], _ reader: Reader
    ) -> [Finding] {
        let offsets = Dictionary(expected.map { ($0.value, $0.entry.offset) }) { first, _ in first }
        var findings: [Finding] = []
        var seen: Set<Value> = []
        var last: UInt64 = 0
        for delivery in deliveries {
            if !seen.insert(delivery.value).inserted {
                findings.append(.deliveredTwice(reader: reader.name, delivery.value))
            } else if offsets[delivery.value] != delivery.offset, !isForgotten(delivery.value, at: delivery.offset) {
                findings.append(.deliveredOtherwise(reader: reader.name, delivery))
            } else if delivery.offset <= last {
                findings.append(.deliveredOutOfOrder(reader: reader.name, delivery.value))
            }
            last = max(last, delivery.offset)
        }
        let due = expected.prefix { reader.isComplete || $0.entry.offset <= last }
        let missing = due.filter { !seen.contains($0.value) }
        return findings + missing.map { .gap(reader: reader.name, $0.value) }
    }
}
