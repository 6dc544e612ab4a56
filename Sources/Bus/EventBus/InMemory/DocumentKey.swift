/// Which of the retained documents: the last one of these is kept.
struct DocumentKey: Hashable, Sendable {
    let type: MessageType
    let subject: String
    /// Never empty: an empty key is none.
    let key: String?

    init(type: MessageType, subject: String, key: String?) {
        self.type = type
        self.subject = subject
        self.key = key.flatMap { $0.isEmpty ? nil : $0 }
    }

    init(_ document: Envelope) {
        self.init(type: document.type, subject: document.subject, key: document.attributes.key)
    }
}
