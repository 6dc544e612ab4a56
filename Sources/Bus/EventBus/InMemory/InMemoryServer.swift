internal import Foundation

/// One that answers queries.
struct InMemoryServer: Identifiable {
    let id = UUID()
    let handle: InMemoryEventBus.ID
    let types: Set<MessageType>
    /// Holds no more queries than there are askers waiting.
    let queries: AsyncStream<InMemoryQuery>.Continuation
}
