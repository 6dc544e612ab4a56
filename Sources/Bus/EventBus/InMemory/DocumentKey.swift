/// Which of the retained documents: the last one of these is kept.
struct DocumentKey: Hashable, Sendable {
    let type: MessageType
    let subject: String
    let key: String?

    init(type: MessageType, subject: String, key: String?) {
        self.type = type
        self.subject = subject
        self.key = key
    }

    init(_ document: Envelope) {
        type = document.type
        subject = document.subject
        key = document.attributes.key
    }
}
