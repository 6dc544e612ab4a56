internal import Foundation
internal import Vocabulary

/// The songs of a playlist, and when they were fetched.
struct KeptSongs: Sendable {
    let songs: [Song]
    let fetchedAt: Date

    /// Also false for what seems to come from the future: the clock was set back since.
    func isFresh(at now: Date, for lifetime: Duration) -> Bool {
        (0..<(lifetime / .seconds(1))).contains(now.timeIntervalSince(fetchedAt))
    }
}
