internal import Contracts
internal import EventBus

/// The errors of one session, one shown at a time in the order of their arrival.
struct ErrorQueue: Hashable, Sendable, Codable {
    /// An error and the id of the message that carried it.
    struct Entry: Hashable, Sendable, Codable {
        let id: String
        let error: ApplicationError
    }

    /// How many may wait. Who is told of twenty errors in a row is helped by none of the next.
    static let capacity = 20

    private(set) var shown: Entry?
    private(set) var waiting: [Entry] = []
    /// The errors that were dismissed last: several processes may tell of one, under one id.
    private var dismissed: [String] = []
    private static let dismissedCount = 32

    enum Arrival: Hashable {
        case shown
        case queued
        /// It is there already, or was dismissed: the same message came twice.
        case known
        /// The queue is full, the error is not kept.
        case full
    }

    /// Takes an error in.
    mutating func add(_ entry: Entry) -> Arrival {
        if dismissed.contains(entry.id) { return .known }
        guard let shown else {
            self.shown = entry
            return .shown
        }
        if shown.id == entry.id || waiting.contains(where: { $0.id == entry.id }) { return .known }
        guard waiting.count < Self.capacity else { return .full }
        waiting.append(entry)
        return .queued
    }

    /// Takes an error away; if it was shown, the next one takes its place.
    /// - Returns: whether there was such an error.
    mutating func dismiss(_ id: String) -> Bool {
        if shown?.id == id {
            shown = waiting.isEmpty ? nil : waiting.removeFirst()
        } else if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index)
        } else {
            return false
        }
        dismissed = (dismissed + [id]).suffix(Self.dismissedCount)
        return true
    }

    init() {}

    /// A version before this one did not remember what was dismissed.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        shown = try container.decodeIfPresent(Entry.self, forKey: .shown)
        waiting = try container.decode([Entry].self, forKey: .waiting)
        dismissed = try container.decodeIfPresent([String].self, forKey: .dismissed) ?? []
    }

    /// What views show.
    var banner: Document.ErrorBanner {
        Document.ErrorBanner(errorID: shown?.id, error: shown?.error, waiting: waiting.count)
    }
}

extension Document {
    /// The notifier's own memory. The banner tells views how many errors wait; this keeps which, across a restart.
    struct ErrorQueueState: DocumentMessage {
        static let name = "ErrorQueue"

        var queue: ErrorQueue
    }
}
