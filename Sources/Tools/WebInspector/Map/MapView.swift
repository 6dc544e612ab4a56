internal import DequeModule
internal import Foundation
internal import Support
internal import WebPage

/// A change of the screens of a session, for the map.
struct MapMove: Hashable, Sendable {
    let platform: String
    let session: String
    /// The screen that was in front before. Nil if it is not known.
    let from: String?
    let to: String?
    /// Nil if the change did not come from a rule or a link.
    var rule: String?
    /// The kind of the message that the rule answers. Nil if the rule is not known.
    var kind: String?
    let story: String
    /// The id of the document with the new state.
    let message: String
    let time: Date

    fileprivate var json: JSONValue {
        func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
        return [
            "platform": .string(platform), "session": .string(session), "from": text(from), "to": text(to),
            "rule": text(rule), "kind": text(kind), "story": .string(story), "message": .string(message),
            "time": .string(Timestamp.text(of: time)),
        ]
    }
}

/// A flow in the list of a map.
struct MapFlow: Hashable, Sendable {
    /// The maximum length of a name in the list, in Unicode scalars.
    private static let nameLength = 100

    let platform: String
    let name: String
    let version: Int
    let hash: String

    fileprivate var json: JSONValue {
        [
            "platform": .string(platform), "name": .string(name.shown(to: Self.nameLength)),
            "version": .integer(version), "hash": .string(hash),
        ]
    }
}

/// The beginning of the messages from which the uses of rules are counted.
struct CountedSpan: Hashable, Sendable {
    /// The time of the journal's first message. Nil if the journal was empty.
    let since: Date?
}

/// A view of kind `map`: what the page does not know yet about the flows and the screens that are shown.
struct MapView: ViewState {
    typealias Screens = [String: NavigationHistory.Shown]

    /// The maximum number of moves that wait. If there are more, the oldest are dropped.
    static let moveLimit = 64

    /// The session whose screens and rules are shown. Nil for all sessions.
    let session: String?
    private var flows: [MapFlow]?
    /// The screens by platform.
    private var here: [String: Screens] = [:]
    private var changedPlatforms: Set<String> = []
    /// The changed counts of rules, by platform and rule.
    private var taken: [String: [String: Int]] = [:]
    /// The new value of `counted`. The inner value is nil if the rules are not counted any more.
    private var counted: CountedSpan??
    private var moves: Deque<MapMove> = []
    /// True until the first update, which tells the page to forget what another gateway has told it.
    private var isNew = true

    init(session: String?) {
        self.session = session
    }

    var hasNews: Bool {
        flows != nil || !changedPlatforms.isEmpty || !taken.isEmpty || counted != nil || !moves.isEmpty
    }

    // MARK: Changes

    /// Replaces the list of flows.
    mutating func setFlows(_ flows: [MapFlow]) { self.flows = flows }

    /// Replaces the screens of a platform.
    mutating func setScreens(_ screens: Screens, on platform: String) {
        guard here[platform] != screens else { return }
        here[platform] = screens
        changedPlatforms.insert(platform)
    }

    /// Replaces the counts of some rules of a platform.
    mutating func setCounts(_ counts: [String: Int], on platform: String) {
        if !counts.isEmpty { taken[platform, default: [:]].merge(counts) { $1 } }
    }

    /// Forgets the counts of a platform that the page does not know yet, because its flow is another one.
    mutating func forgetCounts(on platform: String) { taken[platform] = nil }

    mutating func setCounted(_ span: CountedSpan?) { counted = .some(span) }

    mutating func add(_ move: MapMove) {
        moves.append(move)
        if moves.count > Self.moveLimit { moves.removeFirst() }
    }

    /// Begins anew with another journal.
    mutating func forget() {
        taken = [:]
        moves = []
        for platform in here.keys { setScreens([:], on: platform) }
        setCounted(nil)
    }

    // MARK: Updates

    /// Removes and returns the changes as a JSON object. Nil if there are none.
    /// - Parameter size: About the number of bytes that the object should have at most. Counts beyond it follow in
    ///   the next update.
    mutating func dequeueUpdate(size: Int) -> [UInt8]? {
        guard hasNews else { return nil }
        var update = ObjectText()
        if isNew { update.add("reset", .bool(true)) }
        isNew = false
        if let flows {
            update.add("flows", .array(flows.sorted { $0.platform < $1.platform }.map(\.json)))
            self.flows = nil
        }
        if !changedPlatforms.isEmpty {
            let changed = changedPlatforms.map { ($0, Self.json(here[$0] ?? [:])) }
            update.add("here", .object(Dictionary(changed) { first, _ in first }))
            for platform in changedPlatforms where here[platform]?.isEmpty ?? true { here[platform] = nil }
            changedPlatforms = []
        }
        if !moves.isEmpty {
            update.add("moves", .array(moves.map(\.json)))
            moves = []
        }
        if !taken.isEmpty { update.add("taken", dequeueCounts(size: size)) }
        // Rules whose counts have not been sent yet would be drawn as never taken.
        if let counted, taken.isEmpty {
            update.add(
                "counted",
                counted.map { ["since": $0.since.map { .string(Timestamp.text(of: $0)) } ?? .null] } ?? .null)
            self.counted = nil
        }
        return update.closed
    }

    private mutating func dequeueCounts(size: Int) -> JSONValue {
        var left = size
        var object: [String: JSONValue] = [:]
        for platform in taken.keys.sorted() where left > 0 || object.isEmpty {
            var counts: [String: JSONValue] = [:]
            while left > 0 || counts.isEmpty, let (rule, count) = taken[platform]?.popFirst() {
                counts[rule] = .integer(count)
                left -= rule.utf8.count + 10
            }
            object[platform] = .object(counts)
            if taken[platform]?.isEmpty ?? true { taken[platform] = nil }
        }
        return .object(object)
    }

    private static func json(_ screens: Screens) -> JSONValue {
        .object(screens.mapValues { ["shown": .integer($0.shown), "front": .integer($0.front)] })
    }
}
