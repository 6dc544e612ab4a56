internal import EventBus

/// Which dead letters are meant.
enum LetterSelection: Hashable, Sendable {
    case ids([DeadLetter.ID])
    case all(consumer: String?)

    /// - Throws: ``CommandError`` when one of them is not there.
    func letters(on bus: any EventBus) async throws -> [DeadLetter] {
        switch self {
        case .all(let consumer): return try await bus.deadLetters(of: consumer)
        case .ids(let ids):
            let letters = try await bus.deadLetters(of: nil)
            let found = letters.filter { ids.contains($0.id) }
            if let missing = ids.first(where: { id in !found.contains { $0.id == id } }) {
                throw CommandError(
                    code: "no-letter", "there is no dead letter \(missing)", recovery: "see 'segue dead list'")
            }
            return found
        }
    }
}
