package import Contracts
internal import EventBus
package import Vocabulary

/// The intervals at which the playback of an account is looked at, and the times after which this ends.
package struct PollingPace: Sendable {
    /// The interval while music plays.
    package var playing = Duration.seconds(5)
    /// The interval while nothing plays.
    package var idle = Duration.seconds(15)
    /// The time from the first poll after a command to the second one. Right after a command, Spotify may still answer
    /// with the former playback.
    var secondPoll = Duration.seconds(1)
    /// The interval after the first failure. It doubles with each further one, up to ``longestFailure``.
    var failure = Duration.seconds(5)
    var longestFailure = Duration.seconds(60)
    /// The time to wait if Spotify asks to wait and names no time. Spotify counts the requests of 30 seconds.
    var unnamedWait = Duration.seconds(30)
    /// The time in which a screen must show the playback after it was requested.
    package var appearance = Duration.seconds(10)
    /// The time after which nobody is expected to look any more, if a person has done nothing. A device that ends
    /// does not close its screens.
    package var attention = Duration.seconds(3600)

    package init() {}

    /// - Parameter divisor: the number by which the intervals are divided, for tests.
    package init(dividedBy divisor: Int) {
        self.init()
        playing /= divisor
        idle /= divisor
        secondPoll /= divisor
        failure /= divisor
        longestFailure /= divisor
    }
}

/// Decides when the playback of one session's account is looked at, and which documents are published.
///
/// Times are durations since any fixed moment. The machine does not look at a clock, wait, or send anything.
package struct NowPlayingPolling {
    package enum Input: Sendable {
        /// The time of the last ``Next/wait(until:)`` has come.
        case due
        /// The answer to the last ``Next/poll``. Nil if nothing plays and nothing is paused.
        case answered(Result<Playback?, MusicError>)
        /// A screen of the session shows the playback, or none does.
        case shown(Bool)
        /// A command of the session has changed the playback.
        case changed
    }

    package enum Next: Hashable, Sendable {
        case poll
        /// Wait until this time, or until another input comes.
        case wait(until: Duration)
        /// The playback is not followed any more. The error is for a person. Nil for none.
        case end(MusicError?)
    }

    /// The result of an input.
    package struct Step: Hashable, Sendable {
        /// The document to publish first. Nil for none.
        package var publish: Document.NowPlaying?
        package var next: Next
    }

    /// The difference between two measurements of a position that is not a change, in milliseconds.
    private static let tolerance = 2000
    /// The time after the end of a track at which the next track is expected.
    private static let trackChange = Duration.milliseconds(500)

    private let pace: PollingPace
    private let begun: Duration
    /// The last document that was published.
    private var document: Document.NowPlaying
    /// The time of the last sign of a person.
    private var lastSign: Duration
    /// True if a screen has shown the playback since the beginning.
    private var hasBeenShown = false
    private var due: Duration
    /// The time until which Spotify asks to wait.
    private var notBefore: Duration
    private var failures = 0
    /// True if the next poll is the first one after a command.
    private var pollsAgain = false
    /// The last track whose end was a reason for an early poll. An answer can say again and again that its track ends.
    private var endingTrack: Playback.Track?

    /// Creates a machine whose first step is to poll.
    /// - Parameter document: the document that is published already.
    package init(at now: Duration, document: Document.NowPlaying, pace: PollingPace = PollingPace()) {
        self.pace = pace
        self.document = document
        (begun, lastSign, due, notBefore) = (now, now, now, now)
    }

    package mutating func handle(_ input: Input, at now: Duration) -> Step {
        switch input {
        case .due: return Step(next: next(at: now))
        case .answered(.success(let playback)): return answered(playback, at: now)
        case .answered(.failure(let error)): return failed(error, at: now)
        case .shown(true):
            hasBeenShown = true
            lastSign = now
        case .shown(false):
            if hasBeenShown { return Step(next: .end(nil)) }
        case .changed:
            lastSign = now
            pollsAgain = true
            due = max(now, notBefore)
        }
        return Step(next: next(at: now))
    }

    private func next(at now: Duration) -> Next {
        let end = hasBeenShown ? lastSign + pace.attention : begun + pace.appearance
        if now >= end { return .end(nil) }
        return now >= due ? .poll : .wait(until: min(due, end))
    }

    private mutating func answered(_ playback: Playback?, at now: Duration) -> Step {
        failures = 0
        due = now + interval(after: playback)
        pollsAgain = false
        let new = Document.NowPlaying(status: .following, playback: playback)
        guard !isForeseen(new) else { return Step(next: next(at: now)) }
        document = new
        return Step(publish: new, next: next(at: now))
    }

    private mutating func interval(after playback: Playback?) -> Duration {
        if pollsAgain { return pace.secondPoll }
        guard let playback, playback.isPlaying else { return pace.idle }
        guard let track = playback.track, track != endingTrack else { return pace.playing }
        let change = .milliseconds(max(0, track.duration - playback.position)) + Self.trackChange
        guard change < pace.playing else { return pace.playing }
        endingTrack = track
        return change
    }

    private mutating func failed(_ error: MusicError, at now: Duration) -> Step {
        guard let wait = wait(after: error) else {
            // An account that was connected before has been disconnected. That is not an error for the person.
            let isLogOut = error == .notAuthorized && document.status != .loading
            return Step(next: .end(isLogOut ? .authorizationEnded : error))
        }
        failures += 1
        due = now + wait
        if case .rateLimited = error { notBefore = due }
        var interrupted = document
        interrupted.status = .interrupted
        guard interrupted != document else { return Step(next: next(at: now)) }
        document = interrupted
        return Step(publish: interrupted, next: next(at: now))
    }

    /// The time to wait after an error. Nil if the same request would fail again.
    private func wait(after error: MusicError) -> Duration? {
        switch error {
        case .rateLimited(let wait): max(wait ?? pace.unnamedWait, .seconds(1))
        case .unavailable, .renewalOverdue:
            min(pace.failure * (1 << min(failures, 10)), pace.longestFailure)
        default: nil
        }
    }

    /// True if a client that has the last document can compute the new one.
    private func isForeseen(_ new: Document.NowPlaying) -> Bool {
        guard new.status == document.status, var former = document.playback, let current = new.playback else {
            return new == document
        }
        let position = former.position(at: current.measuredAt)
        // A position beyond the end of the track counts as the end.
        let (difference, isTooLong) = current.position(at: current.measuredAt).subtractingReportingOverflow(position)
        let limit = current.isPlaying ? Self.tolerance : 0
        guard !isTooLong, (-limit...limit).contains(difference) else { return false }
        (former.position, former.measuredAt) = (current.position, current.measuredAt)
        return former == current
    }
}
