package import BusAccess
internal import BusFormat
internal import BusKeys
internal import BusProtocol
internal import EventBus
internal import Support

/// A user of a bus with keys, or the broker itself, as the sender of messages.
///
/// Not `Sendable`: it belongs to the broker's thread.
package final class Publisher {
    let name: String
    /// Nil for the broker, which may do everything.
    let rights: Rights?
    /// What is known about the topics of the journal, and about those of transient messages: the two have tables of
    /// their own.
    private var recorded: TopicRights?
    private var transient: TopicRights?

    package init(_ rights: Rights) {
        (name, self.rights) = (rights.name, rights)
        (recorded, transient) = (TopicRights(rights), TopicRights(rights))
    }

    /// The broker as a publisher.
    init() {
        (name, rights) = (VerifiedOrigin.broker, nil)
    }

    /// Checks that the user may publish the messages of a batch.
    /// - Parameters:
    ///   - topics: The table of the batch's topics.
    ///   - isLeased: True if the bus withdraws the documents of the batch when the publisher has ended.
    ///   - owner: Returns the name of the publisher of the present document with an identity.
    /// - Throws: ``ProtocolError`` with code `forbidden`.
    func check(
        _ batch: ScannedBatch, in topics: TopicTable, isTransient: Bool = false, isLeased: Bool = false,
        owner: (_ type: [UInt8], _ subject: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> String?
    ) throws {
        guard let rights, !rights.areUnlimited else { return }
        try batch.frame.withUnsafeBytes { frame in
            for message in batch.messages {
                let subject = UnsafeRawBufferPointer(rebasing: frame[message.subject])
                let key = UnsafeRawBufferPointer(rebasing: frame[message.key])
                let type: MessageType
                var present: String?
                switch message.topic {
                case .known(let index):
                    type = topics[index].type
                    let answer =
                        isTransient
                        ? transient?.answer(onTopic: index, of: type, subject: subject, key: key)
                        : recorded?.answer(onTopic: index, of: type, subject: subject, key: key)
                    if answer == .allowed { continue }
                    if answer == .allowedToPublisher { present = try owner(topics[index].typeBytes, subject, key) }
                // A new topic has no document that somebody else owns.
                case .new(let index): type = batch.newTopics[index].type
                }
                try Self.check(rights, type, subject, key, replacingDocumentOf: present)
                // What a process says about itself ends with it.
                guard isLeased || !rights.isOfPublisher(type) else {
                    throw ProtocolError(.forbidden, "\(type) may only be published in a leased batch")
                }
            }
        }
    }

    private static func check(
        _ rights: Rights, _ type: MessageType, _ subject: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer,
        replacingDocumentOf owner: String? = nil
    ) throws(ProtocolError) {
        let refusal = rights.refusalToPublish(
            type, subject: String(decoding: subject, as: UTF8.self), key: String(decoding: key, as: UTF8.self),
            replacingDocumentOf: owner)
        if let refusal { throw ProtocolError(.forbidden, refusal) }
    }
}

extension Rights {
    /// Checks that the user may make a request. A batch is checked when its messages are known.
    /// - Throws: ``ProtocolError`` with code `forbidden`.
    func check(_ request: Request) throws(ProtocolError) {
        guard !areUnlimited, let refusal = refusal(of: request) else { return }
        throw ProtocolError(.forbidden, refusal)
    }

    private func refusal(of request: Request) -> String? {
        switch request {
        case .hello, .bye, .publish, .answer, .cancel, .locate, .end: nil
        case .read(let page), .heads(let page), .documents(let page), .count(let page):
            page.prefixes.lazy.compactMap { refusalToRead(topics: $0) }.first
        case .document(let document): refusalToRead(document.type, subject: document.subject)
        case .documentsOfSubject(let documents): refusalToRead(documents.type, subject: documents.subject)
        case .claim(let claim): refusalToClaim(claim.consumer)
        case .deadLetters(let letters), .listDeadLetters(let letters): refusalToReadDeadLetters(of: letters.consumer)
        case .countDeadLetters(let consumer): refusalToReadDeadLetters(of: consumer)
        case .serve(let served): served.types.lazy.compactMap { refusalToServe($0) }.first
        case .ask(let asked):
            Topic(asked.query.topic).flatMap { refusalToAsk($0.type, subject: asked.query.subject) }
        case .consumers: refusalToListConsumers()
        case .forget(let consumer): refusalToForget(consumer)
        }
    }

    /// - Parameter consumer: Empty for all consumers.
    private func refusalToReadDeadLetters(of consumer: String) -> String? {
        refusalToReadDeadLetters(of: consumer.isEmpty ? nil : consumer)
    }

    /// The reason why the user may not subscribe to a topic, or to all that begin with it. Nil if it may.
    func refusalToSubscribe(to topic: [UInt8]) -> String? {
        if areUnlimited || Inbox.isTopic(topic) { return nil }
        let text = String(decoding: topic, as: UTF8.self)
        guard let session = role.session else { return refusalToRead(topics: text) }
        // Each topic of messages is that of several sessions.
        if text.utf8.elementsEqual(SessionSignal.topic(of: session).utf8) { return nil }
        return
            "'\(name)' is a device of the session '\(session.shortened(to: 80).onOneLine)' and may subscribe only to its signals"
    }

    /// True if the user may read messages of a topic. The topics of other users than devices were checked when they
    /// were requested.
    func mayRead(_ topic: TopicEntry) -> Bool {
        !areOfOneSession || refusalToRead(topics: topic.name) == nil
    }

    /// True if a device may receive a message.
    func mayReceive(_ type: MessageType, _ origin: RowOrigin) -> Bool {
        let session = String(decoding: origin.session, as: UTF8.self)
        return switch mayReceive(type, subject: session) {
        case .nothing: false
        // A message from before the bus had keys has no session.
        case .everything: !origin.isEmpty
        case .messagesOfBroker: String(decoding: origin.publisher, as: UTF8.self) == VerifiedOrigin.broker
        }
    }
}
