internal import EventBus
internal import Foundation
internal import Monitor
internal import Support

/// A happening as a row of a list. Its texts, which `Happenings` makes, are cut, so that many rows need little memory.
struct HappeningRow: Hashable, Sendable {
    /// The maximum number of parts in ``words``.
    private static let partLimit = 20
    /// The maximum lengths of a part, of all words, of a name and of an id, in Unicode scalars.
    private static let (partLength, wordsLength, nameLength, idLength) = (200, 1000, 100, 200)

    /// Stays the same when further messages join the happening.
    let id: String
    private let kind: Happening.Kind
    private let story: String
    private let session: String
    private let time: Date
    private let sinceStart: Duration?
    private let actor: String
    /// The platform on which it has happened. Nil if it has happened on none, or on all.
    private let platform: String?
    /// The position of the first message. Nil if the journal does not have it.
    private let position: Position?
    private let firstID: String
    private var words = ""
    private var rule: String?
    /// The key of the rule in its flow.
    private var key: String?
    /// The id of the message that caused the first message.
    private let cause: String?
    private var messageCount = 0

    init(_ happening: Happening, id: String, first message: Envelope) {
        self.id = id
        kind = happening.kind
        story = happening.story
        session = happening.session
        time = happening.time
        sinceStart = happening.sinceStart
        actor = happening.actor.shown(to: Self.nameLength)
        platform = message.attributes.platform ?? (happening.kind == .navigation ? happening.actor : nil)
        position = message.position
        firstID = message.id
        cause = happening.cause?.shown(to: Self.idLength)
        update(happening)
    }

    /// Shows what has joined the happening.
    mutating func update(_ happening: Happening) {
        let parts = happening.parts.prefix(Self.partLimit).map { $0.shown(to: Self.partLength) }
        words = (parts + (happening.parts.count > parts.count ? ["…"] : [])).joined(separator: " · ")
            .shown(to: Self.wordsLength)
        rule = happening.rule?.shown(to: Self.nameLength)
        key = happening.ruleKey?.shown(to: Self.nameLength)
        messageCount = happening.messages.count
    }

    var json: JSONValue {
        func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
        let milliseconds = sinceStart.map { Int(($0 / .milliseconds(1)).rounded()) }
        return [
            "id": .string(id), "kind": .string(kind.name), "manner": .string(kind.manner), "story": .string(story),
            "session": .string(session), "time": .string(Timestamp.text(of: time)),
            "after": milliseconds.map(JSONValue.integer) ?? .null, "actor": .string(actor), "platform": text(platform),
            "words": .string(words), "rule": text(rule), "key": text(key),
            "cause": text(cause), "position": text(position?.pageText),
            "message": .string(firstID), "messages": .integer(messageCount),
        ]
    }
}

extension Happening.Kind {
    fileprivate var name: String {
        switch self {
        case .origin: "origin"
        case .service: "service"
        case .navigation: "navigation"
        case .error: "error"
        case .banner: "banner"
        case .process: "process"
        }
    }
}
