package import EventBus

/// What a user may publish of one type.
package enum PublishRight: Hashable, Sendable {
    case nothing
    case everything
    /// Only some subjects and keys.
    case some(PublishLimit)
}

/// The subjects and keys with which a user may publish a type.
package struct PublishLimit: Hashable, Sendable {
    /// The keys of documents.
    package enum Keys: Hashable, Sendable {
        case all
        /// The UTF-8 bytes of the keys.
        case only(Set<[UInt8]>)
        /// The UTF-8 bytes with which each key begins.
        case beginning([[UInt8]])
    }

    /// The UTF-8 bytes of the only subject; nil for all subjects.
    package let subject: [UInt8]?
    package let keys: Keys
    /// True for the documents of a process: only the user that has published one may replace or withdraw it.
    package let belongsToPublisher: Bool

    init(subject: String? = nil, keys: Keys = .all, belongsToPublisher: Bool = false) {
        self.subject = subject.map { Array($0.utf8) }
        self.keys = keys
        self.belongsToPublisher = belongsToPublisher
    }

    /// Returns true if a message with this subject and key is within the limit.
    package func allows(subject: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> Bool {
        if let wanted = self.subject, !subject.elementsEqual(wanted) { return false }
        return switch keys {
        case .all: true
        case .only(let keys): keys.contains { key.elementsEqual($0) }
        case .beginning(let prefixes): prefixes.contains { key.prefix($0.count).elementsEqual($0) }
        }
    }
}

/// The rights of a user to publish, by the number of the topic in a table of topics.
///
/// They are asked for each message, so each answer is computed once and kept.
package struct TopicRights: Sendable {
    package let rights: Rights
    private var answers: [PublishRight?] = []

    package init(_ rights: Rights) {
        self.rights = rights
    }

    /// What the user may publish on a topic.
    /// - Parameters:
    ///   - topic: The number of the topic, at most ``capacity``. A number always means the same topic.
    ///   - type: The type of the topic.
    package mutating func right(
        onTopic topic: Int, of type: @autoclosure () -> MessageType
    ) -> PublishRight {
        if topic < answers.count, let answer = answers[topic] { return answer }
        let answer = rights.publishing(type())
        guard topic < Self.capacity else { return answer }
        while answers.count <= topic { answers.append(nil) }
        answers[topic] = answer
        return answer
    }

    /// The number of topics above which answers are not kept.
    package static let capacity = 65_536
}
