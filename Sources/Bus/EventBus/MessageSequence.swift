/// The messages of one subscription, in order. For one reader.
///
/// It pulls: what the reader has not asked for waits in the journal, so a slow reader costs nobody else anything.
public struct MessageSequence: AsyncSequence, Sendable {
    public typealias Element = Envelope
    public typealias Failure = any Error

    private let pull: @Sendable () async throws -> Envelope?

    /// - Parameter pull: waits for the next message; nil when the subscription has ended.
    public init(pull: @escaping @Sendable () async throws -> Envelope?) {
        self.pull = pull
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(pull: pull)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let pull: @Sendable () async throws -> Envelope?

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Envelope? {
            try await pull()
        }

        public mutating func next() async throws -> Envelope? {
            try await pull()
        }
    }
}
