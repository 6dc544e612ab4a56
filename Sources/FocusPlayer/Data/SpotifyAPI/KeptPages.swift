internal import Synchronization

/// The pages of lists whose reading was interrupted, for example by a rate limit. The next attempt continues after
/// them. They are only in memory.
package final class KeptPages: Sendable {
    struct Key: Hashable {
        let session: String
        /// The URL of the first page.
        let url: String
    }

    private struct Entry {
        let key: Key
        let list: any Sendable
        let time: ContinuousClock.Instant
    }

    /// The reading of one list. It ends when the pages of its session are removed.
    struct Reading {
        let key: Key
        fileprivate let number: Int
    }

    private struct State {
        /// The readings that are under way, by their number.
        var readings: [Int: Key] = [:]
        var lastReading = 0
        /// The oldest entry first.
        var entries: [Entry] = []
        /// The account of each session that has entries, or had some.
        var accounts: [String: String] = [:]

        mutating func removePages(of session: String) {
            entries.removeAll { $0.key.session == session }
            readings = readings.filter { $0.value.session != session }
        }
    }

    /// The maximum number of lists of all sessions. The oldest ones are removed.
    private static let capacity = 16
    /// The maximum number of sessions whose accounts are known. If there are more, everything is removed.
    private static let maximumSessions = 10_000
    /// The maximum age of pages.
    private static let lifetime = Duration.seconds(600)

    private let state = Mutex(State())

    package init() {}

    /// Begins to read a list. Removes its pages and returns them. Call ``end(_:)`` after the reading.
    func begin<Item>(_ key: Key) -> (reading: Reading, list: PagedList<Item>?) {
        state.withLock { state in
            state.lastReading += 1
            let reading = Reading(key: key, number: state.lastReading)
            state.readings[reading.number] = key
            guard let index = state.entries.firstIndex(where: { $0.key == key }) else { return (reading, nil) }
            let entry = state.entries.remove(at: index)
            return (reading, entry.time.duration(to: .now) < Self.lifetime ? entry.list as? PagedList<Item> : nil)
        }
    }

    func end(_ reading: Reading) {
        state.withLock { $0.readings[reading.number] = nil }
    }

    /// Keeps the pages of a list whose reading was interrupted. Does nothing if the pages of the session have been
    /// removed since the reading began: these may belong to another account.
    func keep<Item>(_ list: PagedList<Item>, of reading: Reading) {
        state.withLock { state in
            guard state.readings[reading.number] != nil else { return }
            state.entries.removeAll { $0.key == reading.key }
            state.entries.append(Entry(key: reading.key, list: list, time: .now))
            if state.entries.count > Self.capacity { state.entries.removeFirst() }
        }
    }

    /// Notes the account of a session. Removes the pages of another account.
    func note(account: String, of session: String) {
        state.withLock { state in
            if let former = state.accounts[session], former != account { state.removePages(of: session) }
            if state.accounts.count >= Self.maximumSessions { state = State(lastReading: state.lastReading) }
            state.accounts[session] = account
        }
    }

    /// Removes the pages of a session.
    package func forget(_ session: String) {
        state.withLock { state in
            state.removePages(of: session)
            state.accounts[session] = nil
        }
    }
}

/// A list that is read page by page, with the pages that were read so far.
struct PagedList<Item: Sendable>: Sendable {
    /// The maximum number of entries. A longer list is an error.
    static var maximumEntries: Int { 10_000 }
    /// The maximum number of pages, in case that pages have few entries or none.
    static var maximumPages: Int { 400 }

    private(set) var items: [Item] = []
    /// The number of entries so far, including those that are left out.
    private(set) var entryCount = 0
    /// The URL of the next page. Nil if the list is complete.
    private(set) var next: String?
    private(set) var visited: Set<String> = []
    private(set) var total: Int?
    /// The version of the list before its first page was read: Spotify's, or the identities of all items in the pass
    /// before. Nil if it is not known.
    let version: String?

    /// False if nothing is known of the list.
    var isBegun: Bool { !visited.isEmpty || version != nil }

    init(from first: String, version: String? = nil) {
        next = first
        self.version = version
    }

    /// Adds the page at ``next``.
    /// - Returns: False if the page shows that the list has changed since the first page.
    mutating func add<Payload>(
        _ page: PagePayload<Payload>, _ item: (Payload) -> Item?
    ) throws(PagingError) -> Bool {
        if let url = next { visited.insert(url) }
        let pageTotal = page.total?.value
        if let total, let pageTotal, total != pageTotal { return false }
        total = total ?? pageTotal
        items += page.items.compactMap(\.value).compactMap(item)
        entryCount += page.items.count
        next = page.next
        if entryCount > Self.maximumEntries || total ?? 0 > Self.maximumEntries { throw .tooLong(Self.maximumEntries) }
        guard let next else { return true }
        if visited.contains(next) { throw .repeats }
        if visited.count >= Self.maximumPages { throw .tooManyPages(Self.maximumPages) }
        return true
    }
}

/// The reason why the pages of a list cannot be read to the end.
enum PagingError: Error {
    case tooLong(Int)
    case tooManyPages(Int)
    case repeats
}
