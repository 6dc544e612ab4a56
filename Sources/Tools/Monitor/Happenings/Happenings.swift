internal import Contracts
package import EventBus
internal import Foundation

/// Makes happenings from the messages of a bus, in the order of the journal.
///
/// Adjacent messages that one process has published at the same time because of one message become one happening. So a
/// happening is complete when the next message arrives, or when ``flush()`` is called because none arrives.
package struct Happenings: Sendable {
    /// The number of messages that are not shown: contracts, deadlines and the like.
    package private(set) var hiddenCount = 0
    /// The maximum difference between the times of messages that one handler publishes together.
    private static let sameTime = 0.005
    /// The number of parts at which no further message joins a happening.
    package static let partLimit = 32
    /// The maximum lengths of a part, and of an actor and a rule, in Unicode scalars.
    private static let (lengthLimit, nameLimit) = (400, 100)
    /// The happening that further messages may still join, and the message that caused it.
    private var open: (happening: Happening, source: String, cause: String?)?
    private var words = HappeningWords()

    package init() {}

    /// The happening that further messages may still join. Nil if there is none.
    package var pending: Happening? { open?.happening }

    /// The number of messages before the end of the journal beyond which documents are too old to be learnt.
    private static let reach = 100_000
    /// The number of documents that are read at a time.
    private static let pageSize = 1_000

    /// Learns the flows on a bus, which name the platforms and the lines of the rules, and the contracts, which give
    /// templates for the lines of messages.
    package mutating func learnDeclarations(of bus: EventBus) async throws {
        let filters: [MessageFilter] = [.type(Document.Flow.self), .type(Document.ServiceContract.self)]
        for document in try await bus.documents(matching: filters) { learn(document) }
    }

    /// Learns the present state of a bus, which the next messages change.
    /// - Parameter session: The only session of the messages. Nil for all sessions; then only the screens and banners
    ///   are learnt.
    package mutating func learnPresent(of bus: EventBus, session: String?) async throws {
        try await learnDeclarations(of: bus)
        for document in try await bus.documents(matching: [.type(Document.Presence.self)]) { learn(document) }
        let filters: [MessageFilter] =
            session.map { [.kind(.document, subject: $0)] }
            ?? [.type(Document.NavigationState.self), .type(Document.ErrorBanner.self)]
        let end = try await bus.inspect.end()
        var offset = try await bus.inspect.position(end, offsetBy: -Self.reach).offset
        while true {
            let page = try await bus.documents(matching: filters, after: offset, limit: Self.pageSize)
            for document in page { learn(document) }
            guard page.count == Self.pageSize, let last = page.last?.position else { return }
            offset = last.offset
        }
    }

    /// Learns a state from a document, which is not a happening.
    package mutating func learn(_ document: Envelope) { words.learn(document) }

    /// - Returns: The happening that is complete now. Nil if there is none.
    package mutating func handle(_ message: Envelope) -> Happening? {
        let sinceStart = words.sinceStart(of: message)
        guard var content = words.apply(message) else {
            hiddenCount += 1
            return nil
        }
        func cut(_ text: String, to limit: Int) -> String { String(text.unicodeScalars.prefix(limit)) }
        content.parts = content.parts.prefix(Self.partLimit).map { cut($0, to: Self.lengthLimit) }
        content.actor = cut(content.actor, to: Self.nameLimit)
        content.rule = content.rule.map { cut($0, to: Self.nameLimit) }
        content.ruleKey = content.ruleKey.map { cut($0, to: Self.nameLimit) }
        let attributes = message.attributes
        if joins(content, of: message) {
            open?.happening.parts += content.parts
            if let rule = content.rule { open?.happening.rule = rule }
            if let key = content.ruleKey { open?.happening.ruleKey = key }
            open?.happening.messages.append(message.id)
            return nil
        }
        defer {
            let happening = Happening(
                kind: content.kind, story: attributes.correlationID,
                beginsStory: attributes.correlationID == message.id, session: message.subject, time: attributes.time,
                sinceStart: sinceStart, actor: content.actor, parts: content.parts, rule: content.rule,
                ruleKey: content.ruleKey, cause: attributes.causationID, messages: [message.id])
            open = (happening, attributes.source, attributes.causationID)
        }
        return open?.happening
    }

    /// True if a message belongs to the happening of the message before.
    private func joins(_ content: HappeningWords.Content, of message: Envelope) -> Bool {
        guard let open, content.joins else { return false }
        let (attributes, happening) = (message.attributes, open.happening)
        return open.source == attributes.source && open.cause == attributes.causationID
            && happening.story == attributes.correlationID && happening.session == message.subject
            && happening.kind == content.kind && happening.actor == content.actor
            && (happening.rule == nil || content.rule == nil) && happening.parts.count < Self.partLimit
            && abs(attributes.time.timeIntervalSince(happening.time)) <= Self.sameTime
    }

    /// - Returns: The last happening, which no further message joins. Nil if there is none.
    package mutating func flush() -> Happening? {
        defer { open = nil }
        return open?.happening
    }
}
