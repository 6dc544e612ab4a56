package import Foundation
internal import Support

/// The names that identify a retained document. The bus keeps the last document of each name.
package struct DocumentName: Hashable, Sendable {
    package let type: MessageType
    package let subject: String
    /// Nil instead of an empty string: an empty key is the same as no key.
    package let key: String?

    package init(_ type: MessageType, subject: String, key: String? = nil) {
        self.type = type
        self.subject = subject
        self.key = key.flatMap { $0.isEmpty ? nil : $0 }
    }

    package init(_ document: Envelope) {
        self.init(document.type, subject: document.subject, key: document.attributes.key)
    }
}

extension Envelope {
    /// Creates a message that withdraws a document after its publisher has ended or fallen silent. The new message has
    /// no cause.
    package static func withdrawal(of name: DocumentName, source: String, time: Date = Timestamp.now) -> Envelope {
        var attributes = Attributes(type: name.type, source: source, subject: name.subject, time: time)
        attributes.key = name.key
        return Envelope(attributes: attributes, data: Data())
    }

    /// The tombstone of a document whose publisher has ended.
    var withdrawal: Envelope { .withdrawal(of: DocumentName(self), source: attributes.source) }
}
