package import Contracts
package import EventBus
internal import Support
internal import Synchronization
package import Vocabulary

/// Follows the playback of one session's account, and publishes a document when it has changed.
package struct NowPlayingFollower: Sendable {
    private let player: any Player
    private let pace: PollingPace
    private let log: @Sendable (String) -> Void

    /// - Parameters:
    ///   - player: a player that does not repeat a request when Spotify asks to wait.
    ///   - log: logs the details of an error that a person must not see.
    package init(
        player: any Player, pace: PollingPace = PollingPace(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.player = player
        self.pace = pace
        self.log = log
    }

    /// Follows the playback until no screen shows it, or until it cannot be followed any more. Before,
    /// ``Command/NowPlayingRequested/loading`` must be published.
    /// - Returns: the messages to publish at the end: the last document, and an error if there is one.
    package func follow(
        _ signs: FollowerSigns, publish: (Document.NowPlaying) async throws -> Void
    ) async throws -> [any Message] {
        let clock = ContinuousClock()
        let start = clock.now
        func elapsed() -> Duration { start.duration(to: clock.now) }
        var polling = NowPlayingPolling(at: .zero, document: Command.NowPlayingRequested.loading, pace: pace)
        var next = NowPlayingPolling.Next.poll
        while true {
            let inputs: [NowPlayingPolling.Input]
            switch next {
            case .poll:
                inputs = [.answered(try await poll())]
            case .wait(let deadline):
                let received = try await signs.drain(until: start.advanced(by: deadline))
                inputs = received.isEmpty ? [.due] : received
            case .end(let error):
                if case .accessUnreadable(let reason) = error { log("the access to Spotify cannot be read: \(reason)") }
                let messages: [(any Message)?] = [Command.NowPlayingRequested.ended, error?.applicationError]
                return messages.compactMap(\.self)
            }
            for input in inputs {
                let step = polling.handle(input, at: elapsed())
                if let document = step.publish { try await publish(document) }
                next = step.next
                if case .end = next { break }
            }
        }
    }

    private func poll() async throws -> Result<Playback?, MusicError> {
        do {
            return .success(try await player.playback())
        } catch let error as MusicError {
            return .failure(error)
        }
    }
}

extension Command.NowPlayingRequested {
    /// The document that is shown until Spotify has answered.
    package static var loading: Document.NowPlaying { Document.NowPlaying(status: .loading) }

    /// The document that replaces the last one when the playback is not followed any more.
    package static var ended: Document.NowPlaying { Document.NowPlaying(status: .ended) }
}

/// The signs that a follower receives from its session. Signs that wait are joined, so that their number is limited.
package final class FollowerSigns: Sendable {
    private struct State {
        var isShown: Bool?
        /// True if a screen has shown the playback since the signs were last drained.
        var wasShown = false
        var hasChanged = false
        var news = Latch()
    }

    private let state = Mutex(State())

    package init() {}

    /// Records whether a screen shows the playback.
    package func record(isShown: Bool) {
        state.withLock { state in
            state.isShown = isShown
            state.wasShown = state.wasShown || isShown
            state.news.open()
        }
    }

    /// Records that a command has changed the playback.
    package func recordChange() {
        state.withLock { state in
            state.hasChanged = true
            state.news.open()
        }
    }

    /// Waits for signs, and removes them.
    /// - Returns: an empty list if there are none until the deadline.
    func drain(until deadline: ContinuousClock.Instant) async throws -> [NowPlayingPolling.Input] {
        let news = state.withLock(\.news)
        _ = try await withTimeLimit(ContinuousClock.now.duration(to: deadline)) { try await news.waitUntilOpen() }
        return state.withLock { state in
            defer { state = State() }
            let inputs: [NowPlayingPolling.Input?] = [
                state.wasShown ? .shown(true) : nil, state.isShown == false ? .shown(false) : nil,
                state.hasChanged ? .changed : nil,
            ]
            return inputs.compactMap(\.self)
        }
    }
}
