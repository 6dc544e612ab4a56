internal import Contracts
internal import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// Says what a message has changed, from the messages before it. What was not used for a long time is forgotten.
struct HappeningWords: Sendable {
    /// The content of a happening that one message makes.
    struct Content {
        var kind: Happening.Kind
        var actor: String
        var parts: [String]
        var rule: String?
        var ruleKey: String?
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
        case DomainEvent.GuardDeadlinePassed.type: return content(message, [deadline(passedBy: message)])
        default: return result(message)
        }
    }

    /// The time that is over: of a rule with `after`, or of a guard without an answer.
    private mutating func deadline(passedBy message: Envelope) -> String {
        let name = DocumentName(
            Document.NavigationState.type, subject: message.subject, key: message.attributes.platform)
        readUnread(name)
        guard let id = try? message.decode(DomainEvent.GuardDeadlinePassed.self).attempt,
            let state = snapshots[name]?.state
        else { return "the time is over" }
        func text(_ milliseconds: Int) -> String { Duration.milliseconds(milliseconds).text }
        if let wait = state.waits.first(where: { $0.id == id }) { return "after \(text(wait.delay))" }
        guard let attempt = state.attempts.first(where: { $0.id == id }) else { return "the time is over" }
        let asked = attempt.message.type.cut(at: ".").map { String($0.after) } ?? attempt.message.type
        return "no answer to \(asked) for \(text(attempt.deadline))"
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

    /// Decodes a document that was learnt.
    private mutating func readUnread(_ name: DocumentName) {
        guard let document = unread[name] else { return }
        unread[name] = nil
        _ = apply(document: document)
    }

    private mutating func apply(document: Envelope) -> Content? {
        let name = DocumentName(document)
        readUnread(name)
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
            rule: change.rule.flatMap { rules[state.flow.hash]?[$0] }, ruleKey: change.rule)
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
