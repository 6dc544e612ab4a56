internal import Contracts
package import EventBus
internal import Foundation
internal import Navigation
internal import Support

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
    private var facts = KnownFacts()

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
    package mutating func learn(_ document: Envelope) { facts.learn(document) }

    /// - Returns: The happening that is complete now. Nil if there is none.
    package mutating func handle(_ message: Envelope) -> Happening? {
        let sinceStart = facts.sinceStart(of: message)
        guard var content = facts.apply(message) else {
            hiddenCount += 1
            return nil
        }
        func cut(_ text: String, to limit: Int) -> String { String(text.unicodeScalars.prefix(limit)) }
        content.parts = content.parts.prefix(Self.partLimit).map { cut($0, to: Self.lengthLimit) }
        content.actor = cut(content.actor, to: Self.nameLimit)
        content.rule = content.rule.map { cut($0, to: Self.nameLimit) }
        let attributes = message.attributes
        if joins(content, of: message) {
            open?.happening.parts += content.parts
            if let rule = content.rule { open?.happening.rule = rule }
            open?.happening.messages.append(message.id)
            return nil
        }
        defer {
            let happening = Happening(
                kind: content.kind, story: attributes.correlationID,
                beginsStory: attributes.correlationID == message.id, session: message.subject, time: attributes.time,
                sinceStart: sinceStart, actor: content.actor, parts: content.parts, rule: content.rule,
                messages: [message.id])
            open = (happening, attributes.source, attributes.causationID)
        }
        return open?.happening
    }

    /// True if a message belongs to the happening of the message before.
    private func joins(_ content: KnownFacts.Content, of message: Envelope) -> Bool {
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

/// The facts that are needed to say what a message has changed. Facts that were not used for a long time are forgotten.
private struct KnownFacts: Sendable {
    /// The content of a happening that one message makes.
    struct Content {
        var kind: Happening.Kind
        var actor: String
        var parts: [String]
        var rule: String?
        /// True if the message may join the happening of the message before.
        var joins = true
    }

    /// The messages that only processes need, and the reports of views that tell nothing new.
    private static let bookkeeping: Set<MessageType> = [
        Command.BackCancelled.type, Command.BackStarted.type, Command.ScreenDisplayed.type, Command.ScreenGone.type,
        DomainEvent.MetricsReported.type, DomainEvent.MetricsRequested.type, DomainEvent.ScreenDismissed.type,
        Document.Deadline.type, Document.ScheduledCommand.type, PlatformMessages.errorQueue,
    ]

    /// The times at which stories began, by their ids.
    private var starts = RecentValues<String, Date>()
    /// The last snapshot of each session and platform.
    private var snapshots = RecentValues<DocumentName, NavigationSnapshot>(limit: 500)
    /// The hashes of each document's values, by the names.
    private var documents = RecentValues<DocumentName, DataWords.Hashes>()
    /// The templates of the lines of messages. A template holds for the later messages of all processes.
    private var templates = RecentValues<MessageType, LineTemplate>(limit: 1_000)
    /// The platform of each coordinator, by its source.
    private var platforms = RecentValues<String, String>()
    /// The lines of the rules of each platform, by the hash of the flow.
    private var rules = RecentValues<String, [String: String]>(limit: 100)
    /// The maximum number of rules of a flow. The lines of a larger flow are not shown.
    private static let ruleLimit = 10_000
    /// The names of the processes that run, by their instances.
    private var processes = RecentValues<String, String>()
    /// The last instance that has started, by the name of the process.
    private var lastInstances = RecentValues<String, String>()
    /// The maximum size of a snapshot that is read, in bytes. Machines keep the content of theirs below 512 KiB.
    private static let snapshotLimit = 1 << 20
    /// The documents that were learnt and not decoded yet.
    private var unread = RecentValues<DocumentName, Envelope>(limit: 1_000)
    /// The maximum size of a document in ``unread``, in bytes.
    private static let unreadLimit = 16 * 1024

    /// Records a document that is the state before later messages. Most such documents are never needed, so they are
    /// decoded when the next one of the same name arrives.
    mutating func learn(_ document: Envelope) {
        switch document.type {
        case Document.Flow.type, Document.Presence.type, Document.ServiceContract.type: _ = apply(document: document)
        default:
            if document.type == Document.NavigationState.type, let platform = document.attributes.key {
                platforms[document.attributes.source] = platform
            }
            guard !Self.bookkeeping.contains(document.type) else { return }
            let name = DocumentName(document)
            // What was known of a document that is too large is no longer true.
            (snapshots[name], documents[name]) = (nil, nil)
            unread[name] = document.data.count <= Self.unreadLimit ? document : nil
        }
    }

    /// The time of a message since its story began. Nil for the first message, or if the beginning is not known.
    mutating func sinceStart(of message: Envelope) -> Duration? {
        let attributes = message.attributes
        if attributes.correlationID == message.id {
            starts[message.id] = attributes.time
            return nil
        }
        return starts[attributes.correlationID].map { start in
            .milliseconds(Int64(clamping: Int((attributes.time.timeIntervalSince(start) * 1000).rounded())))
        }
    }

    /// Records what a message says.
    /// - Returns: What it has changed. Nil if it is of no interest for a person.
    mutating func apply(_ message: Envelope) -> Content? {
        if Self.bookkeeping.contains(message.type) { return nil }
        if message.kind == .document { return apply(document: message) }
        if message.type == ApplicationError.type {
            guard let error = try? message.decode(ApplicationError.self) else { return result(message) }
            return Content(
                kind: .error, actor: actor(of: message),
                parts: ["\(error.code): \(error.message)"] + [error.recovery].compactMap(\.self), joins: false)
        }
        if let origin = OriginWords(message, templates[message.type]) {
            return Content(kind: .origin(origin.manner), actor: origin.actor, parts: origin.parts, joins: false)
        }
        switch message.type {
        case DomainEvent.MessageDiscarded.type:
            guard let event = try? message.decode(DomainEvent.MessageDiscarded.self) else { return result(message) }
            return content(message, ["discarded: \(event.reason)"])
        case DomainEvent.URLOpenRequested.type:
            guard let event = try? message.decode(DomainEvent.URLOpenRequested.self) else { return result(message) }
            return content(message, ["opens \(JSONValue.string(event.url).summary)"])
        case DomainEvent.GuardDeadlinePassed.type: return content(message, ["no answer in time"])
        default: return result(message)
        }
    }

    private func content(_ message: Envelope, _ parts: [String]) -> Content {
        let isNavigation = platforms[message.attributes.source] != nil
        return Content(kind: isNavigation ? .navigation : .service, actor: actor(of: message), parts: parts)
    }

    private func result(_ message: Envelope) -> Content {
        content(message, [([message.type.name] + words(for: message).all).joined(separator: " ")])
    }

    private func words(for message: Envelope) -> DataWords { DataWords(message, templates[message.type]) }

    /// The platform of a coordinator, or else the name of the process.
    private func actor(of message: Envelope) -> String {
        let source = message.attributes.source
        return platforms[source] ?? String(source.cut(at: "/")?.before ?? source[...])
    }

    // MARK: Documents

    private mutating func apply(document: Envelope) -> Content? {
        let name = DocumentName(document)
        if let former = unread[name] {
            unread[name] = nil
            _ = apply(document: former)
        }
        switch document.type {
        case Document.NavigationState.type: return apply(snapshot: document, name)
        case Document.Presence.type: return apply(presence: document)
        case Document.Flow.type:
            if let flow = try? document.decode(Document.Flow.self) {
                platforms[document.attributes.source] = flow.platform
                rules[flow.hash] = flow.rules.flatMap { $0.count <= Self.ruleLimit ? $0 : nil } ?? [:]
            }
            return nil
        case Document.ServiceContract.type:
            learn(contract: document)
            return nil
        case Document.ErrorBanner.type: return apply(banner: document)
        default:
            guard !document.isTombstone else {
                documents[name] = nil
                return content(document, ["\(title(of: document)) withdrawn"])
            }
            let words = words(for: document)
            let changed = words.changed(since: documents[name])
            documents[name] = words.hashes
            return content(document, [([title(of: document)] + changed).joined(separator: " ")])
        }
    }

    /// Learns the templates in a contract. The schemas are not decoded, which takes seconds if they are deeply nested.
    private mutating func learn(contract document: Envelope) {
        guard let contract = try? JSONValue(parsing: document.data) else { return }
        for message in ["receives", "sends"].flatMap({ contract[$0]?.arrayValue ?? [] }) {
            guard let type = message["type"]?.stringValue.flatMap(MessageType.init),
                let line = MessageContract(type: type, line: message["line"]?.stringValue).line,
                let template = LineTemplate(line)
            else { continue }
            templates[type] = template
        }
    }

    private func title(of document: Envelope) -> String {
        document.type.name + (document.attributes.key.map { "[\($0)]" } ?? "")
    }

    private mutating func apply(snapshot document: Envelope, _ name: DocumentName) -> Content? {
        guard !document.isTombstone, document.data.count <= Self.snapshotLimit,
            let state = try? document.decode(Document.NavigationState.self).snapshot
        else {
            snapshots[name] = nil
            let actor = document.attributes.key ?? actor(of: document)
            return Content(
                kind: .navigation, actor: actor,
                parts: [document.isTombstone ? "the session has ended" : "NavigationState that cannot be read"])
        }
        platforms[document.attributes.source] = state.platform
        let former = snapshots[name]
        snapshots[name] = state
        let change = NavigationChange(to: state, from: former)
        guard !change.isEmpty, state.revision != former?.revision else { return nil }
        return Content(
            kind: .navigation, actor: state.platform, parts: change.parts,
            rule: change.rule.flatMap { rules[state.flow.hash]?[$0] })
    }

    private mutating func apply(presence document: Envelope) -> Content? {
        guard let instance = document.attributes.key else { return nil }
        let known = processes[instance]
        guard !document.isTombstone else {
            processes[instance] = nil
            // The presence of a process that was killed ends after some seconds, when another may run in its place.
            let another = known.flatMap { lastInstances[$0] }.flatMap { processes[$0] }
            let part = another == nil ? "ended" : "ended; another one runs"
            return Content(kind: .process, actor: known ?? instance, parts: [part], joins: false)
        }
        guard let presence = try? document.decode(Document.Presence.self), known != presence.name else { return nil }
        processes[instance] = presence.name
        lastInstances[presence.name] = instance
        return Content(kind: .process, actor: presence.name, parts: ["started"], joins: false)
    }

    private mutating func apply(banner document: Envelope) -> Content? {
        let banner = document.isTombstone ? nil : try? document.decode(Document.ErrorBanner.self)
        guard document.isTombstone || banner != nil else { return nil }
        let error = banner?.error
        let name = DocumentName(document)
        let wasShown = documents[name] != nil
        documents[name] = error.map { _ in DataWords.Hashes(fields: [:]) }
        guard error != nil || wasShown else { return nil }
        return Content(
            kind: .banner, actor: actor(of: document),
            parts: [error.map { "shows \($0.message)" } ?? "hidden"], joins: false)
    }
}

/// The values that were set lately. Those that were set a long time ago are forgotten.
private struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private var new: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    /// - Parameter limit: The number of values that are kept at least; at most twice as many are.
    init(limit: Int = 10_000) {
        self.limit = limit
    }

    subscript(key: Key) -> Value? {
        get { new[key] ?? old[key] }
        set {
            old[key] = nil
            new[key] = newValue
            if new.count >= limit { (old, new) = (new, [:]) }
        }
    }
}
