internal import Foundation

extension InMemoryHub {
    func deadLetters(of consumer: String?, for handle: InMemoryEventBus.ID) throws -> [DeadLetter] {
        try requireOpen(handle)
        return letters.filter { consumer == nil || $0.consumer == consumer }
    }

    /// The message that a batch gives up; nil if it gives up none.
    func rejectedMessage(of batch: Batch) throws -> Envelope? {
        guard batch.rejection != nil, let position = batch.checkpoint?.position else { return nil }
        try requireThisJournal(position)
        guard position.offset > 0, position.offset <= UInt64(journal.count) else {
            throw BusError(.letter, "there is no message at \(position) to be rejected")
        }
        return journal[Int(position.offset) - 1].message
    }

    func requireLetters(_ ids: [DeadLetter.ID]) throws {
        if let missing = Set(ids).subtracting(letters.map(\.id)).min() {
            throw BusError(.letter, "there is no dead letter \(missing)")
        }
    }

    func keep(_ message: Envelope, of consumer: String, because rejection: Rejection) {
        lastLetter += 1
        letters.append(
            DeadLetter(id: lastLetter, consumer: consumer, rejection: rejection, time: Date(), message: message))
    }

    func settle(_ ids: [DeadLetter.ID]) {
        let settled = Set(ids)
        letters.removeAll { settled.contains($0.id) }
    }
}
