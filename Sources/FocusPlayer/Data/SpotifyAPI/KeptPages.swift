internal import Synchronization

/// The pages of lists whose reading was interrupted, for example by a rate limit. The next attempt continues after
/// them. They are only in memory.
package final class KeptPages: Sendable {
    struct Key: Hashable {
        let session: String
        /// The path of the list.
        let path: String
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
    func begin<Item>(_ key: Key) -> (reading: Reading, list: ListReading<Item>?) {
        state.withLock { state in
            state.lastReading += 1
            let reading = Reading(key: key, number: state.lastReading)
            state.readings[reading.number] = key
            guard let index = state.entries.firstIndex(where: { $0.key == key }) else { return (reading, nil) }
            let entry = state.entries.remove(at: index)
            return (reading, entry.time.duration(to: .now) < Self.lifetime ? entry.list as? ListReading<Item> : nil)
        }
    }

    func end(_ reading: Reading) {
        state.withLock { $0.readings[reading.number] = nil }
    }

    /// Keeps the pages of a list whose reading was interrupted. Does nothing if the pages of the session have been
    /// removed since the reading began: these may belong to another account.
    func keep<Item>(_ list: ListReading<Item>, of reading: Reading) {
        state.withLock { state in
            guard state.readings[reading.number] != nil else { return }
            state.entries.removeAll { $0.key == reading.key }
            state.entries.append(Entry(key: reading.key, list: list, time: .now))
            if state.entries.count > Self.capacity { state.entries.removeFirst() }
        }
    }

    /// Records the account of a session. Removes the pages of another account.
    func record(account: String, of session: String) {
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
