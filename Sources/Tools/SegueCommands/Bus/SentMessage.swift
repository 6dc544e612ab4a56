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

    init(id: String, type: MessageType, position: Position) {
        self.id = id
        self.type = type
        self.position = JournalPosition(position)
    }
}
