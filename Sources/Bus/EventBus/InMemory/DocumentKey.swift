/// Which of the retained documents: the last one of these is kept.
struct DocumentKey: Hashable, Sendable {
    let type: MessageType
    let subject: String
    let key: String?

    init(_ document: Envelope) {
        type = document.type
        subject = document.subject
        key = document.attributes.key
    }
}
