internal import Contracts

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

    enum Arrival: Hashable {
        case shown
        case queued
        /// It is there already: the same message came twice.
        case known
        /// The queue is full, the error is not kept.
        case full
    }

    /// Takes an error in.
    mutating func add(_ entry: Entry) -> Arrival {
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
            return true
        }
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// What views show.
    var banner: Document.ErrorBanner {
        Document.ErrorBanner(errorID: shown?.id, error: shown?.error, waiting: waiting.count)
    }
}
