/// The messages of one subscription, in order. For one reader.
///
/// It pulls: what the reader has not asked for waits in the journal, so a slow reader costs nobody else anything.
public struct MessageSequence: AsyncSequence, Sendable {
    public typealias Element = Envelope
    public typealias Failure = any Error

    /// Runs where the reader runs: a message that is there already costs no change of threads.
    public typealias Pull = nonisolated(nonsending) @Sendable () async throws -> Envelope?

    private let pull: Pull

    /// - Parameter pull: waits for the next message; nil when the subscription has ended.
    public init(pull: @escaping Pull) {
        self.pull = pull
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(pull: pull)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let pull: Pull

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Envelope? {
            try await pull()
        }

        public mutating func next() async throws -> Envelope? {
            try await pull()
        }
    }
}
