import Contracts
import EventBus
import Music
import Support
import Testing
import Vocabulary

@Suite("Polling of the playback")
struct NowPlayingPollingTests {
    /// A machine at its first look.
    private func machine() -> NowPlayingPolling {
        NowPlayingPolling(at: .zero, document: Document.NowPlaying(status: .loading))
    }

    /// A machine whose screen is shown, and that has received this playback at the time 0.
    private func following(_ playback: Playback?) -> NowPlayingPolling {
        var machine = machine()
        _ = machine.handle(.shown(true), at: .zero)
        _ = machine.handle(.answered(.success(playback)), at: .zero)
        return machine
    }

    @Test("The first answer is published, and the next request follows after five seconds")
    func first() {
        var machine = machine()
        #expect(machine.handle(.shown(true), at: .zero).next == .poll)
        let step = machine.handle(.answered(.success(.rain)), at: .seconds(0))
        #expect(step.publish == Document.NowPlaying(status: .following, playback: .rain))
        #expect(step.next == .wait(until: .seconds(5)))
        #expect(machine.handle(.due, at: .seconds(5)).next == .poll)
    }

    @Test("A position that advances normally is not published, however often it is read")
    func foreseen() {
        var machine = following(.rain)
        for second in stride(from: 5, through: 60, by: 5) {
            let answer = Playback.rain.measured(at: second, position: second)
            #expect(machine.handle(.answered(.success(answer)), at: .seconds(second)).publish == nil)
        }
    }

    @Test(
        "A change that a client cannot compute is published",
        arguments: [
            Playback.rain.measured(at: 5, position: 65), Playback.rain.measured(at: 5, position: 2),
            Playback.rain.measured(at: 5, position: 5) { $0.isPlaying = false },
            Playback.rain.measured(at: 5, position: 5) { $0.track?.title = "Snow" },
            Playback.rain.measured(at: 5, position: 5) { $0.device?.name = "Kitchen" },
            Playback.rain.measured(at: 5, position: 5) { $0.device?.volume = 20 }, nil,
        ])
    func unforeseen(new: Playback?) {
        var machine = following(.rain)
        let document = Document.NowPlaying(status: .following, playback: new)
        #expect(machine.handle(.answered(.success(new)), at: .seconds(5)).publish == document)
        #expect(machine.handle(.answered(.success(new)), at: .seconds(6)).publish == nil)
    }

    @Test("A paused position does not advance, and every change of it is published")
    func paused() {
        let paused = Playback.rain.measured(at: 0, position: 30) { $0.isPlaying = false }
        var machine = following(paused)
        let later = paused.measured(at: 60, position: 30)
        #expect(machine.handle(.answered(.success(later)), at: .seconds(60)).publish == nil)
        let sought = paused.measured(at: 75, position: 31)
        #expect(machine.handle(.answered(.success(sought)), at: .seconds(75)).publish?.playback == sought)
    }

    @Test("A stopped playback is requested less often, and the end of a song just after it")
    func intervals() {
        var machine = following(.rain)
        #expect(machine.handle(.answered(.success(nil)), at: .seconds(10)).next == .wait(until: .seconds(25)))
        let ending = Playback.rain.measured(at: 20, position: 238)
        #expect(
            machine.handle(.answered(.success(ending)), at: .seconds(20)).next == .wait(until: .milliseconds(22_500)))
    }

    @Test(
        "A contradictory answer is checked early once for each track, and published once",
        arguments: [
            // A position beyond the end, a position at the end that does not change, and a track without a duration.
            (300_000, 240_000, 0), (240_000, 240_000, 0), (0, 0, 0), (250_000, 240_000, 5000), (7000, 0, 5000),
        ])
    func contradiction(position: Int, duration: Int, step: Int) {
        var machine = following(nil)
        var published = 0
        var now = Duration.seconds(1)
        var waits: [Duration] = []
        for title in ["Rain", "Snow"] {
            for look in 0..<4 {
                let answer = Playback.rain.measured(at: now.milliseconds / 1000, position: 0) { playback in
                    playback.position = position + look * step
                    playback.track?.title = title
                    playback.track?.duration = duration
                }
                let result = machine.handle(.answered(.success(answer)), at: now)
                published += result.publish == nil ? 0 : 1
                guard case .wait(let until) = result.next else { continue }
                waits.append(until - now)
                now = until
            }
        }
        let expected: [Duration] = [.milliseconds(500), .seconds(5), .seconds(5), .seconds(5)]
        #expect(waits == expected + expected)
        #expect(published == 2)
    }

    @Test("A command is followed by a request at once, and another one a second later")
    func command() {
        var machine = following(.rain)
        #expect(machine.handle(.changed, at: .seconds(1)).next == .poll)
        let answer = Playback.rain.measured(at: 1, position: 1)
        #expect(machine.handle(.answered(.success(answer)), at: .seconds(1)).next == .wait(until: .seconds(2)))
        #expect(machine.handle(.answered(.success(answer)), at: .seconds(2)).next == .wait(until: .seconds(7)))
    }

    @Test("No request is sent before Spotify's wait is over, not even after a command")
    func rateLimit() {
        var machine = following(.rain)
        let step = machine.handle(.answered(.failure(.rateLimited(retryAfter: .seconds(20)))), at: .seconds(5))
        #expect(step.publish == Document.NowPlaying(status: .interrupted, playback: .rain))
        #expect(step.next == .wait(until: .seconds(25)))
        #expect(machine.handle(.changed, at: .seconds(6)).next == .wait(until: .seconds(25)))
        #expect(machine.handle(.shown(true), at: .seconds(7)).next == .wait(until: .seconds(25)))
        #expect(machine.handle(.due, at: .seconds(25)).next == .poll)
        let answer = Playback.rain.measured(at: 25, position: 25)
        let back = machine.handle(.answered(.success(answer)), at: .seconds(25))
        #expect(back.publish == Document.NowPlaying(status: .following, playback: answer))
    }

    @Test("A wait without a duration, or with zero, still delays the next request")
    func unnamedWait() {
        var machine = following(.rain)
        let unnamed = machine.handle(.answered(.failure(.rateLimited(retryAfter: nil))), at: .zero)
        #expect(unnamed.next == .wait(until: .seconds(30)))
        let none = machine.handle(.answered(.failure(.rateLimited(retryAfter: .zero))), at: .zero)
        #expect(none.next == .wait(until: .seconds(1)))
    }

    @Test("Requests become less frequent while Spotify does not answer, and the interruption is reported once")
    func unavailable() {
        var machine = following(.rain)
        var waits: [Duration] = []
        var published = 0
        var now = Duration.zero
        for _ in 0..<6 {
            let step = machine.handle(.answered(.failure(.unavailable("503"))), at: now)
            published += step.publish == nil ? 0 : 1
            guard case .wait(let until) = step.next else { continue }
            waits.append(until - now)
            now = until
        }
        #expect(waits == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
        #expect(published == 1)
        #expect(machine.handle(.changed, at: now).next == .poll, "a command may be worth a look")
    }

    @Test(
        "A permanent error ends the polling",
        arguments: [
            MusicError.authorizationEnded, .renewalFailed, .forbidden("scope"), .unauthorized(generation: 2),
        ])
    func ends(error: MusicError) {
        var machine = following(.rain)
        #expect(machine.handle(.answered(.failure(error)), at: .seconds(5)).next == .end(error))
    }

    @Test("A missing account is an error, unless it was disconnected during the polling")
    func disconnected() {
        var machine = machine()
        #expect(machine.handle(.answered(.failure(.notAuthorized)), at: .zero).next == .end(.notAuthorized))
        machine = following(.rain)
        #expect(machine.handle(.answered(.failure(.notAuthorized)), at: .zero).next == .end(.authorizationEnded))
    }

    @Test("The polling ends at once when no screen shows it")
    func left() {
        var machine = following(.rain)
        #expect(machine.handle(.shown(false), at: .seconds(1)).next == .end(nil))
    }

    @Test("The screen must appear within ten seconds")
    func appearance() {
        var machine = machine()
        #expect(machine.handle(.shown(false), at: .zero).next == .poll)
        #expect(machine.handle(.answered(.success(nil)), at: .zero).next == .wait(until: .seconds(10)))
        #expect(machine.handle(.due, at: .seconds(10)).next == .end(nil))
    }

    @Test("A device that ended without closing the screen is served for a limited time")
    func attention() {
        var machine = following(nil)
        _ = machine.handle(.changed, at: .seconds(100))
        _ = machine.handle(.answered(.success(nil)), at: .seconds(3600))
        #expect(machine.handle(.due, at: .seconds(3699)).next == .poll)
        #expect(machine.handle(.answered(.success(nil)), at: .seconds(3699)).next == .wait(until: .seconds(3700)))
        #expect(machine.handle(.due, at: .seconds(3700)).next == .end(nil))
    }

    @Test("The greatest numbers of a message are computed without an overflow")
    func greatest() {
        let greatest = Int(SafeIntegers.greatest)
        let strange = Playback(track: nil, isPlaying: true, position: greatest, measuredAt: 0)
        #expect(strange.position(at: greatest) == 2 * greatest)
        var machine = following(strange)
        let other = Playback(track: nil, isPlaying: true, position: 0, measuredAt: greatest)
        #expect(machine.handle(.answered(.success(other)), at: .zero).publish?.playback == other)
    }
}

extension Playback {
    /// A song of four minutes at its beginning, measured at the time 0.
    fileprivate static let rain = Playback(
        track: Track(title: "Rain", artist: "Anna", album: "Weather", duration: 240_000), isPlaying: true, position: 0,
        measuredAt: 0, device: Speaker(name: "Laptop", type: "Computer", volume: 60))

    /// The playback with another position, both in seconds, and other changes.
    fileprivate func measured(at time: Int, position: Int, _ change: (inout Playback) -> Void = { _ in }) -> Playback {
        var new = self
        (new.measuredAt, new.position) = (time * 1000, position * 1000)
        change(&new)
        return new
    }
}
