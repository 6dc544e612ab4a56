internal import EventBus

/// Hears what the processes of a bus say of what is replayed to them.
struct ResultListener {
    /// What nobody asks for must not add up.
    private static let memoryLimit = 10_000

    private let messages: MessageSequence
    private let patience: Duration
    private var heard: Set<String> = []
    /// Whether something did not come: nothing is waited for any more, for whoever says it is not there.
    private(set) var hasGivenUp = false

    init(_ messages: MessageSequence, patience: Duration) {
        self.messages = messages
        self.patience = patience
    }

    /// - Returns: whether the message came; false only once.
    mutating func wait(for id: String) async throws -> Bool {
        if hasGivenUp || heard.remove(id) != nil { return true }
        guard let others = try await others(before: id) else {
            hasGivenUp = true
            return false
        }
        if heard.count > Self.memoryLimit { heard = [] }
        heard.formUnion(others)
        return true
    }

    /// - Returns: what came before that message; nil when that did not come in time.
    private func others(before id: String) async throws -> Set<String>? {
        let (messages, patience) = (messages, patience)
        return try await withThrowingTaskGroup(of: Set<String>?.self) { group in
            group.addTask {
                var others: Set<String> = []
                for try await message in messages {
                    if message.id == id { return others }
                    if message.hasDerivedID { others.insert(message.id) }
                }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}
