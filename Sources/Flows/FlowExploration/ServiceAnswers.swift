internal import FlowReview
internal import Navigation
internal import Support

/// A set of the types of events that services send only as answers.
struct AnswerSet: OptionSet, Hashable, Sendable {
    let rawValue: UInt64
}

/// What services send because of which messages, as far as their handlers declare it.
///
/// An event is bound if services send it only from handlers of messages that the exploration sees. All others may come at
/// any time.
struct ServiceAnswers {
    /// The maximum number of types that are bound. A type of which rules ask for the platform counts for each platform.
    private static let limit = UInt64.bitWidth

    /// The bound types, sorted.
    private(set) var types: [String]
    /// The events that flows answer and that may come at any time, sorted.
    let freeTypes: [String]
    /// True if some service declares its handlers.
    let isKnown: Bool
    private var bits: [String: AnswerSet] = [:]
    /// By the type of an event of which some rule asks for the platform, the part of its bits for each platform, and for
    /// none as an empty name.
    private var placed: [String: [String: AnswerSet]] = [:]
    /// The events that may follow from a message of each platform. An answer has the platform of what it answers.
    private var masks: [String: AnswerSet] = [:]
    /// By the type of a message, the events that may follow from it.
    private var following: [String: AnswerSet] = [:]
    /// By the type of an event, the events that may follow from a message from which it follows.
    private var accompanying: [String: AnswerSet] = [:]

    /// - Parameter catalogue: Whatever it contains, the effort is in proportion to its size.
    init(_ catalogue: MessageCatalogue, of flows: [Flow]) {
        // The exploration delivers these itself, so what follows from them is added then.
        let explored = flows.reduce(into: Set()) { $0.formUnion($1.serviceTypes) }
        let handlers = ServiceHandlers(catalogue)
        isKnown = !handlers.sends.isEmpty
        // An event that nothing sends is bound, too: it never follows.
        let candidates = explored.filter { type in
            handlers.sends.values.contains { $0.contains(type) } && !handlers.unasked.contains(type)
                || catalogue.isUnsent(type)
        }.sorted()
        let names = [""] + flows.map(\.platform)
        var bits: [String: AnswerSet] = [:]
        var count = 0
        for type in candidates {
            let places = flows.contains { $0.asksForOrigin(of: type) } ? names : [""]
            guard count + places.count <= Self.limit else { break }
            let own = places.indices.map { AnswerSet(rawValue: 1 << UInt64(count + $0)) }
            bits[type] = own.reduce(into: AnswerSet()) { $0.formUnion($1) }
            if places.count > 1 { placed[type] = Dictionary(uniqueKeysWithValues: zip(places, own)) }
            count += places.count
        }
        let ofSome = placed.keys.reduce(into: AnswerSet()) { $0.formUnion(bits[$1] ?? []) }
        for name in flows.map(\.platform) + [Occurrence.otherPlatform] {
            let own = placed.values.reduce(into: AnswerSet()) { $0.formUnion($1[name] ?? []) }
            masks[name] = AnswerSet(rawValue: .max).subtracting(ofSome).union(own)
        }
        let following = handlers.following(bits, explored: explored)
        // Of a message that the exploration does not see, the answers may come at any time.
        let unseen = handlers.unseen(of: flows, explored: explored)
        let free = unseen.reduce(into: AnswerSet()) { $0.formUnion(following[$1] ?? []) }
        self.bits = bits.filter { free.isDisjoint(with: $0.value) }
        self.following = following.compactMapValues { set in
            let bound = set.subtracting(free)
            return bound.isEmpty ? nil : bound
        }
        types = self.bits.keys.sorted()
        freeTypes = explored.subtracting(types).sorted()
        for (type, bit) in self.bits {
            accompanying[type] = self.following.values.filter { $0.isSuperset(of: bit) }
                .reduce(into: AnswerSet()) { $0.formUnion($1) }
        }
    }

    /// The same messages, with no bound event.
    var withoutTypes: ServiceAnswers {
        var answers = self
        (answers.types, answers.bits, answers.following, answers.accompanying) = ([], [:], [:], [:])
        return answers
    }

    /// What this assumes of events.
    var assumption: EventAssumption {
        if types.isEmpty, freeTypes.isEmpty { return .none }
        return isKnown ? .answers(types, free: freeTypes) : .unknown
    }

    /// True if any event may come at any time.
    var isEmpty: Bool { bits.isEmpty }

    /// The set with a bound event alone, of any platform. Empty for all other types.
    subscript(type: String) -> AnswerSet { bits[type] ?? [] }

    /// The set with a bound event of a platform alone.
    subscript(type: String, platform: String?) -> AnswerSet {
        bits[type] == nil ? [] : placed[type]?[platform ?? ""] ?? self[type]
    }

    /// The bound events of a set, sorted.
    func types(in set: AnswerSet) -> [String] { types.filter { !set.isDisjoint(with: self[$0]) } }

    /// The bound events that may follow from a message.
    /// - Parameter platform: The platform of the message. Nil if it is not known.
    func following(_ type: String, from platform: String?) -> AnswerSet {
        (following[type] ?? []).intersection(platform.flatMap { masks[$0] } ?? AnswerSet(rawValue: .max))
    }

    /// The bound events that may come together with a bound event, and that event itself.
    func accompanying(_ type: String) -> AnswerSet { accompanying[type] ?? [] }
}

/// The handlers of all services.
private struct ServiceHandlers {
    /// For each type that some service handles, the types that its handlers send.
    private(set) var sends: [String: Set<String>] = [:]
    /// The types that services and devices send otherwise than from handlers.
    private(set) var unasked: Set<String> = [.applicationError]
    /// Those that not only devices send so.
    private var unaskedByServices: Set<String> = [.applicationError]

    init(_ catalogue: MessageCatalogue) {
        for service in catalogue.services.values {
            for (type, sent) in service.answers ?? [:] { sends[type, default: []].formUnion(sent) }
            let sent = service.sends.union(service.outcomes)
            let own = service.answers.map { sent.subtracting($0.values.joined()) } ?? sent
            unasked.formUnion(own)
            if !service.isDevice { unaskedByServices.formUnion(own) }
        }
    }

    /// By the type of a message, the events that follow from it: those that its handlers send, and those that follow from
    /// what else they send.
    func following(_ bits: [String: AnswerSet], explored: Set<String>) -> [String: AnswerSet] {
        var found: [String: AnswerSet] = [:]
        var causes: [String: [String]] = [:]
        for (type, sent) in sends {
            found[type] = sent.reduce(into: AnswerSet()) { $0.formUnion(bits[$1] ?? []) }
            for other in sent where sends[other] != nil && !explored.contains(other) {
                causes[other, default: []].append(type)
            }
        }
        var waiting = Array(causes.keys)
        while let type = waiting.popLast() {
            for cause in causes[type] ?? [] {
                let joined = (found[cause] ?? []).union(found[type] ?? [])
                if found[cause] != joined {
                    found[cause] = joined
                    waiting.append(cause)
                }
            }
        }
        return found
    }

    /// The types that handlers handle, and that may come without being seen: those that no flow and no handler sends, and
    /// those that a service also sends otherwise.
    func unseen(of flows: [Flow], explored: Set<String>) -> Set<String> {
        let opens = flows.contains { !$0.links.isEmpty || $0.messageTypes.contains(Machine.deepLinkReceived) }
        let seen = flows.reduce(into: explored) { $0.formUnion($1.sentCommands) }
            .union([PlatformOccurrences.launch, ServiceAnswers.sessionEnded])
            .union(opens ? [Machine.deepLinkReceived] : [])
        let handled = Set(sends.keys)
        let sent = Set(sends.values.joined()).subtracting(unasked)
        return handled.subtracting(seen).subtracting(sent)
            .union(handled.intersection(unaskedByServices).subtracting(explored))
    }
}

extension ServiceAnswers {
    /// The type of the event at which a session begins anew.
    fileprivate static let sessionEnded = "event.SessionEnded"

    /// The events that may come before anything else: what follows from the end of an earlier session.
    var first: AnswerSet { following(Self.sessionEnded, from: nil) }
}

extension MessageCatalogue.Service {
    /// True for the program that shows screens. Its commands are those of the flow's screens.
    fileprivate var isDevice: Bool {
        answers == nil
            && (sends.contains(PlatformOccurrences.launch)
                || ViewReport.allCases.contains { sends.contains($0.rawValue) })
    }
}

extension String {
    fileprivate static let applicationError = "error.ApplicationError"
}
