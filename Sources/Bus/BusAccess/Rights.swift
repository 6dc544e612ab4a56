package import BusKeys
package import EventBus
internal import Support

/// What the owner of a key may do on a bus. Questions are answered with the reason for a refusal, on one line, or with
/// nil if it may.
package struct Rights: Hashable, Sendable {
    package let name: String
    package let role: KeyRole
    /// The entry of the access file about the service, or about devices. Nil for other roles, and for a service without
    /// an entry.
    private let entry: AccessEntry?
    /// True if nothing is refused.
    package let areUnlimited: Bool

    /// - Parameter access: The rights of services and devices. Nil if rights are not checked.
    package init(of key: KnownKey, in access: Access?) {
        name = key.name
        role = key.role
        areUnlimited = access == nil || role == .operator
        entry =
            switch role {
            case .service: access?.services[key.name]
            case .device: access?.devices
            case .operator, .monitor: nil
            }
    }

    // MARK: Publishing

    /// What the owner may publish of a type, recorded or transient. ``TopicRights`` keeps the answers.
    package func publishing(_ type: MessageType) -> PublishRight {
        if areUnlimited { return .everything }
        let own = PublishLimit(subject: Session.default, belongsToPublisher: true)
        switch role {
        case .operator: return .everything
        case .monitor:
            if type == PlatformAccess.presence { return .some(own) }
            return type == PlatformAccess.metricsRequested ? .some(PublishLimit(subject: Session.default)) : .nothing
        case .device(let session):
            if type == PlatformAccess.presence { return .some(own) }
            guard let entry, entry.publishes.contains(type) else { return .nothing }
            return .some(PublishLimit(subject: session))
        case .service:
            guard let entry else { return .nothing }
            if PlatformAccess.announcements.contains(type) { return .some(own) }
            if type == PlatformAccess.metricsReported { return .some(PublishLimit(subject: Session.default)) }
            if type == PlatformAccess.scheduledCommand {
                return .some(PublishLimit(keys: .beginning(entry.claims.map { Array("\($0).".utf8) })))
            }
            if PlatformAccess.outcomes.contains(type) { return .everything }
            guard entry.publishes.contains(type) else { return .nothing }
            let platforms = entry.claims.compactMap(PlatformAccess.platform)
            if PlatformAccess.platformDocuments.contains(type) {
                return .some(PublishLimit(keys: .only(Set(platforms.map { Array($0.utf8) }))))
            }
            if type == PlatformAccess.deadline {
                return .some(PublishLimit(keys: .beginning(platforms.map { Array("\($0).".utf8) })))
            }
            return .everything
        }
    }

    /// True if only the user that has published a document of the type may replace or withdraw it.
    package func isOfPublisher(_ type: MessageType) -> Bool {
        if case .some(let limit) = publishing(type) { limit.belongsToPublisher } else { false }
    }

    /// - Parameter owner: The name of the user that has published the present document; nil if there is none, or if the
    ///   user is not known. Needed only for types that ``PublishLimit/belongsToPublisher``.
    package func refusalToPublish(
        _ type: MessageType, subject: String, key: String = "", replacingDocumentOf owner: String? = nil
    ) -> String? {
        switch publishing(type) {
        case .everything: return nil
        case .nothing: return refusal("publish \(type)")
        case .some(let limit):
            let isWithin = Array(subject.utf8).withUnsafeBytes { subject in
                Array(key.utf8).withUnsafeBytes { limit.allows(subject: subject, key: $0) }
            }
            let what = key.isEmpty ? "\(type)" : "\(type) with the key '\(key.shortened(to: 80))'"
            guard isWithin else { return refusal("publish \(what) in the session '\(subject.shortened(to: 80))'") }
            guard limit.belongsToPublisher, let owner, owner != name else { return nil }
            return refusal("replace or withdraw \(what), which belongs to '\(owner)'")
        }
    }

    // MARK: Reading

    /// True if pages and the feed have to be restricted to the messages that ``mayReceive(_:subject:)`` selects.
    package var areOfOneSession: Bool { !areUnlimited && role.session != nil }

    /// What the owner may read of a type and a subject.
    package func mayReceive(_ type: MessageType, subject: String) -> ReadRight {
        if areUnlimited { return .everything }
        switch role {
        case .operator, .monitor: return .everything
        case .service: return mayRead(type) ? .everything : .nothing
        case .device(let session):
            if subject.utf8.elementsEqual(session.utf8), mayRead(type) { return .everything }
            guard subject.utf8.elementsEqual(Session.default.utf8) else { return .nothing }
            if PlatformAccess.sharedDocuments.contains(type) { return .everything }
            return type == PlatformAccess.applicationError ? .messagesOfBroker : .nothing
        }
    }

    /// - Parameter prefix: The beginning of topics: `kind.`, `kind.Name.`, or a whole topic. A device may read a prefix
    ///   with which readable topics begin; what it receives is then restricted, see ``areOfOneSession``.
    package func refusalToRead(topics prefix: String) -> String? {
        if areUnlimited || role == .monitor { return nil }
        let parts = prefix.split(scalar: ".", omittingEmptySubsequences: false).map(String.init)
        guard (2...3).contains(parts.count), let kind = MessageKind(rawValue: parts[0]) else {
            return "'\(prefix.shortened(to: 80).onOneLine)' is not the beginning of a topic; "
                + "write kind., kind.Name. or kind.Name.partition"
        }
        if parts.count == 2 {
            guard areOfOneSession, parts[1].isEmpty, readableTypes.contains(where: { $0.kind == kind }) else {
                return refusal("read all messages of the kind \(kind.rawValue)")
            }
            return nil
        }
        let type = MessageType(kind: kind, name: parts[1])
        let isReadable =
            parts[2].isEmpty ? readableTypes.contains(type) : mayReadTopic(type, partition: parts[2])
        return isReadable ? nil : refusal("read \(prefix.shortened(to: MessageType.maximumLength).onOneLine)")
    }

    package func refusalToRead(_ type: MessageType, subject: String) -> String? {
        guard mayReceive(type, subject: subject) == .nothing else { return nil }
        return refusal("read \(type) of the session '\(subject.shortened(to: 80))'")
    }

    /// The types of which the owner may read messages; not used for roles that read everything.
    private var readableTypes: Set<MessageType> {
        let own = entry?.reads ?? []
        return switch role {
        case .service: entry == nil ? [] : own.union([PlatformAccess.metricsRequested])
        case .device: own.union(PlatformAccess.sharedDocuments).union([PlatformAccess.applicationError])
        case .operator, .monitor: own
        }
    }

    private func mayRead(_ type: MessageType) -> Bool {
        guard let entry else { return false }
        return entry.reads.contains(type) || (role == .service && type == PlatformAccess.metricsRequested)
    }

    /// - Parameter digits: The last part of a topic.
    private func mayReadTopic(_ type: MessageType, partition digits: String) -> Bool {
        guard case .device(let session) = role else { return mayRead(type) }
        return [session, Session.default].contains { subject in
            guard mayReceive(type, subject: subject) != .nothing else { return false }
            let number = String(Partition(subject: subject).number, radix: 16)
            return digits.utf8.elementsEqual((number.utf8.count < 2 ? "0\(number)" : number).utf8)
        }
    }

    // MARK: Durable consumers and dead letters

    /// Also for a batch with a checkpoint of the consumer.
    package func refusalToClaim(_ consumer: String) -> String? {
        if areUnlimited || mayClaim(consumer) { return nil }
        return refusal("claim the consumer '\(consumer.shortened(to: 80))'")
    }

    /// - Parameter consumer: The consumer whose dead letters are read; nil for those of all consumers.
    package func refusalToReadDeadLetters(of consumer: String?) -> String? {
        if areUnlimited || role == .monitor { return nil }
        guard let consumer else { return refusal("read the dead letters of all consumers") }
        return mayClaim(consumer) ? nil : refusal("read the dead letters of '\(consumer.shortened(to: 80))'")
    }

    package func refusalToSettleDeadLetters(of consumer: String) -> String? {
        if areUnlimited || mayClaim(consumer) { return nil }
        return refusal("settle dead letters of '\(consumer.shortened(to: 80))'")
    }

    package func refusalToListConsumers() -> String? {
        areUnlimited || role == .monitor ? nil : refusal("list the consumers")
    }

    package func refusalToForget(_ consumer: String) -> String? {
        areUnlimited ? nil : refusal("remove the consumer '\(consumer.shortened(to: 80))'")
    }

    private func mayClaim(_ consumer: String) -> Bool {
        // Names that are canonically equivalent are equal here; the bus accepts only one of them.
        role == .service && entry?.claims.contains(consumer) == true
    }

    // MARK: Queries

    package func refusalToServe(_ type: MessageType) -> String? {
        if areUnlimited || entry?.serves.contains(type) == true { return nil }
        return refusal("serve \(type)")
    }

    package func refusalToAsk(_ type: MessageType, subject: String) -> String? {
        if areUnlimited { return nil }
        if let entry, entry.asks.contains(type) {
            guard let session = role.session, !session.utf8.elementsEqual(subject.utf8) else { return nil }
            return refusal("ask \(type) in the session '\(subject.shortened(to: 80))'")
        }
        return refusal("ask \(type)")
    }

    // MARK: Reasons

    private func refusal(_ what: String) -> String {
        let what = what.onOneLine
        return switch role {
        case .operator: "'\(name)' may not \(what)"
        case .monitor: "'\(name)' is a monitor and may not \(what); use a key with the role operator"
        case .device(let session): "'\(name)' is a device of the session '\(session.onOneLine)' and may not \(what)"
        case .service where entry == nil:
            "'\(name)' may not \(what): the access file has no entry of this name; declare it in the contract, then run "
                + "'segue access --write'"
        case .service:
            "'\(name)' may not \(what); if it should, declare it in the contract, then run 'segue access --write'"
        }
    }
}

/// What a user may read of one type and subject.
package enum ReadRight: Hashable, Sendable {
    case nothing
    case everything
    /// Only the messages that the broker itself has published.
    case messagesOfBroker
}
