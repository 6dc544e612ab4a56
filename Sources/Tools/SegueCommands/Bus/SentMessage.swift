internal import EventBus

/// What `segue send --json` tells; the position looks as it does in `segue monitor --json`.
struct SentMessage: Encodable {
    struct JournalPosition: Encodable {
        let epoch: String
        let offset: UInt64

        init(_ position: Position) {
            epoch = String(position.epoch, radix: 16)
            offset = position.offset
        }
    }

    let id: String
    let type: MessageType
    let position: JournalPosition
    /// When a command expires; nil for never.
    let expirytime: String?

    init(_ message: Envelope, at position: Position) {
        id = message.id
        type = message.type
        expirytime = message.attributes.expiryTime.map(Timestamp.text(of:))
        self.position = JournalPosition(position)
    }
}
