internal import Contracts
internal import EventBus

/// The errors of one session. They are shown one at a time, in the order of their arrival.
struct ErrorQueue: Hashable, Sendable, Codable {
    /// An error and the id of its message.
    struct Entry: Hashable, Sendable, Codable {
        let id: String
        let error: ApplicationError
    }

    /// The maximum number of waiting errors, without the shown one. A further error is discarded.
    static let capacity = 20

    /// The error that the banner shows. Nil if the queue is empty.
    private(set) var shown: Entry?
    private(set) var waiting: [Entry] = []
    /// The ids of the errors that were dismissed last, at most ``dismissedCount``. An error in this list is not shown
    /// again.
    private var dismissed: [String] = []
    private static let dismissedCount = 32
    /// True if the session has ended. Until it begins again, its errors are not shown. Not part of the document: after
    /// a restart, a late error of an ended session is shown.
    var hasEnded = false

    private enum CodingKeys: CodingKey {
        case shown, waiting, dismissed
    }

    enum Arrival: Hashable {
        case shown
        case queued
        /// An error with the same id is in the queue already, or is in ``dismissed``.
        case known
        /// The queue is full, and the error was dropped.
        case full
    }

    /// Adds an error.
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

    /// Removes an error. If it was the shown error, the next one is shown.
    /// - Returns: false if the queue does not have the error.
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

    /// Decodes a queue. The key `dismissed` may be missing.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        shown = try container.decodeIfPresent(Entry.self, forKey: .shown)
        waiting = try container.decode([Entry].self, forKey: .waiting)
        dismissed = try container.decodeIfPresent([String].self, forKey: .dismissed) ?? []
    }

    /// The document that views show.
    var banner: Document.ErrorBanner {
        Document.ErrorBanner(errorID: shown?.id, error: shown?.error, waiting: waiting.count)
    }
}

extension Document {
    /// The error queue of a session, from which the notifier continues after a restart.
    struct ErrorQueueState: DocumentMessage {
        static let name = "ErrorQueue"

        var queue: ErrorQueue
    }
}
