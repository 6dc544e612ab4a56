extension PeerProcess {
    /// Has a subscriber read so many messages from the journal's beginning.
    func catchUp(_ count: Int) async throws -> Delivery {
        try await perform(.prepare(count, isFromBeginning: true))
        return Delivery(try await perform(.run(count)), expected: count)
    }
}
