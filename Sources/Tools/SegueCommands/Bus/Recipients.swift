internal import Compose
internal import Contracts
internal import EventBus

/// Who a message is for, as far as the processes on the bus have announced it.
struct Recipients {
    let bus: any EventBus

    /// Tells when nobody on the bus listens to a command or event: its name may be misspelt. That is no failure, since
    /// the service may just be restarted and find the message in the journal.
    func warn(of type: MessageType) async throws {
        guard type.kind == .command || type.kind == .event else { return }
        let documents = try await bus.documents(matching: [.type(Document.Presence.self)])
        let presences = documents.compactMap { try? $0.decode(Document.Presence.self) }
        let known = Set(presences.flatMap { $0.receives + $0.sends })
        guard !known.contains(type.description) else { return }
        let hint = type.description.nearest(of: known).map { "did you mean \($0)?" } ?? "see 'segue services'"
        await Console.error.tell("published, but nobody on the bus receives \(type) at the moment; \(hint)")
    }
}
