package import EventBus
internal import Foundation

/// What a user may publish of one type.
package enum PublishRight: Hashable, Sendable {
    case nothing
    case everything
    /// Only some subjects and keys.
    case some(PublishLimit)
}

/// The subjects and keys with which a user may publish a type.
package struct PublishLimit: Hashable, Sendable {
    /// The keys of documents, as UTF-8.
    enum Keys: Hashable, Sendable {
        case all
        case only(Set<[UInt8]>)
        case beginning([[UInt8]])
    }

    /// The UTF-8 bytes of the only subject; nil for all subjects.
    let subject: [UInt8]?
    let keys: Keys
    /// True for the documents of a process: only the user that has published one may replace or withdraw it.
    package let belongsToPublisher: Bool

    init(subject: String? = nil, keys: Keys = .all, belongsToPublisher: Bool = false) {
        self.subject = subject.map { Array($0.utf8) }
        self.keys = keys
        self.belongsToPublisher = belongsToPublisher
    }

    /// Returns true if a message with this subject and key, as UTF-8, is within the limit.
    func allows(subject: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> Bool {
        if let wanted = self.subject, subject.count != wanted.count || !subject.begins(with: wanted) { return false }
        return switch keys {
        case .all: true
        case .only(let keys): keys.contains { key.count == $0.count && key.begins(with: $0) }
        case .beginning(let prefixes): prefixes.contains { key.begins(with: $0) }
        }
    }
}

/// The answer to the question if a user may publish a message.
package enum PublishAnswer: Hashable, Sendable {
    case allowed
    /// Allowed unless another user has published the present document with this type, subject and key.
    case allowedToPublisher
    case refused
}

/// The rights of a user to publish, by the number of the topic in a table of topics.
///
/// They are asked for each message. What follows from the type is computed once for each topic, and kept.
package struct TopicRights: Sendable {
    /// The number of topics above which nothing is kept.
    package static let capacity = 65_536

    package let rights: Rights
    /// What is known of each topic: ``unknown``, ``nothing``, ``everything``, or the index of a limit above these.
    private var codes: [UInt16] = []
    private var limits: [PublishLimit] = []

    private static let unknown: UInt16 = 0
    private static let nothing: UInt16 = 1
    private static let everything: UInt16 = 2
    private static let firstLimit: UInt16 = 3

    package init(_ rights: Rights) {
        self.rights = rights
    }

    /// - Parameters:
    ///   - topic: The number of the topic. A number always means the same topic.
    ///   - type: The type of the topic.
    ///   - subject: The subject of the message, as UTF-8.
    ///   - key: The key of the message, as UTF-8; empty for none.
    package mutating func answer(
        onTopic topic: Int, of type: @autoclosure () -> MessageType, subject: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer
    ) -> PublishAnswer {
        var code = topic < codes.count ? codes[topic] : Self.unknown
        if code == Self.unknown { code = learn(topic, type()) }
        if code == Self.everything { return .allowed }
        guard code >= Self.firstLimit else { return .refused }
        let limit = Int(code - Self.firstLimit)
        guard limits[limit].allows(subject: subject, key: key) else { return .refused }
        return limits[limit].belongsToPublisher ? .allowedToPublisher : .allowed
    }

    private mutating func learn(_ topic: Int, _ type: MessageType) -> UInt16 {
        let code =
            switch rights.publishing(type) {
            case .nothing: Self.nothing
            case .everything: Self.everything
            case .some(let limit): code(of: limit)
            }
        guard topic < Self.capacity else { return code }
        while codes.count <= topic { codes.append(Self.unknown) }
        codes[topic] = code
        return code
    }

    /// A user has few limits: most types of a device share one.
    private mutating func code(of limit: PublishLimit) -> UInt16 {
        if let known = limits.firstIndex(of: limit) { return UInt16(known) + Self.firstLimit }
        limits.append(limit)
        return UInt16(limits.count - 1) + Self.firstLimit
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func begins(with bytes: [UInt8]) -> Bool {
        guard count >= bytes.count else { return false }
        guard let base = baseAddress else { return true }
        return bytes.withUnsafeBytes { other in
            guard let start = other.baseAddress else { return true }
            return memcmp(base, start, other.count) == 0
        }
    }
}
