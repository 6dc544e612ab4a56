package import BusFormat
package import EventBus
internal import Support

/// The streams of a namespace, and the patterns with wildcards that select several subjects.
package struct StreamNames: Hashable, Sendable {
    package let namespace: String

    package init(_ namespace: String) {
        self.namespace = namespace
    }

    package var journal: String { namespace }
    package var documents: String { namespace + "_DOC" }
    package var deadLetters: String { namespace + "_DEAD" }

    package var all: [String] { [journal, documents, deadLetters] }

    package var journalSubjects: [String] { [batches, "\(namespace).k.>"] }
    package var documentSubjects: [String] { ["\(namespace).d.>"] }
    package var deadLetterSubjects: [String] { ["\(namespace).x.>"] }

    /// All messages of the journal's stream.
    package var everything: String { "\(namespace).*.>" }

    /// All batches. The sequence of the last one is the end of the journal.
    package var batches: String { "\(namespace).m.>" }

    /// All batches, progress records and fences of a durable consumer.
    package func progress(of consumer: String) -> [String] {
        let token = SubjectToken.encode(consumer)
        return ["\(namespace).m.\(token).*.>", "\(namespace).k.p.\(token).*", "\(namespace).k.f.\(token).*"]
    }

    /// All control records.
    package var records: String { "\(namespace).k.>" }
    /// All retained documents, without the records beside them.
    package var allDocuments: String { "\(namespace).d.*.*.*.*" }
    /// The fences of the steward that writes documents.
    package var documentFences: String { "\(namespace).d.~f.*" }
    /// The inventories of all stretches of the journal.
    package var inventories: String { "\(namespace).d.~inventory.*" }
    /// The fences of all partitions of a durable consumer.
    package func fences(of consumer: String) -> String { "\(namespace).k.f.\(SubjectToken.encode(consumer)).*" }
    /// The progress records of all partitions of a durable consumer.
    package func progressRecords(of consumer: String) -> String {
        "\(namespace).k.p.\(SubjectToken.encode(consumer)).*"
    }
    /// The dead letter with an id, of any consumer.
    package func deadLetterFilter(_ id: Int64) -> String { "\(namespace).x.*.\(id)" }
    /// The groups of all durable consumers.
    package var groups: String { "\(namespace).k.g.*" }
    /// The leases of all producers.
    package var leases: String { "\(namespace).k.l.*" }
    /// The dead letters of a durable consumer; those of all consumers if it is nil.
    package func deadLetterFilter(of consumer: String?) -> String {
        "\(namespace).x.\(consumer.map(SubjectToken.encode) ?? "*").*"
    }

    /// The documents that a filter selects; nil if the filter selects no document. The pattern does not match the
    /// records beside the documents, which have fewer tokens.
    package func documents(matching filter: MessageFilter) -> String? {
        guard filter.kind == nil || filter.kind == .document else { return nil }
        let place = filter.subject.map { "\(Partition(subject: $0).token).\(SubjectToken.encode($0))" } ?? "*.*"
        return "\(namespace).d.\((filter.type?.name).map(SubjectToken.encode) ?? "*").\(place).*"
    }
}

extension ProducerID {
    /// Reads 32 hexadecimal digits in lower case.
    package init?(hexadecimal text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 2 * Self.length else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard let byte = SubjectToken.byte(hexadecimal: pair) else { return nil }
            bytes.append(byte)
        }
        var reader = ByteReader(bytes)
        guard let producer = try? ProducerID(&reader) else { return nil }
        self = producer
    }
}
