import Foundation
import Testing

@testable import SpotifySimulator

@Suite("State of a player")
struct PlayerStateTests {
    private static let start = Date(timeIntervalSince1970: 1_790_000_000)
    /// Three songs of 100, 200 and 300 seconds.
    private static let selection = PlaybackQueue.Selection(
        context: "spotify:playlist:a",
        tracks: (1...3).map { PlaybackQueue.Track(uri: "spotify:track:\($0)", durationInMilliseconds: $0 * 100_000) },
        index: 0)

    private static func player(playing: Bool = true, volume: Int? = 50) throws -> PlayerState {
        let device = Catalogue.Speaker(
            id: "a", name: "A", type: "Speaker", isActive: true, isRestricted: false, volume: volume)
        var player = PlayerState(isPremium: true, devices: [device])
        if playing { try player.play(selection, on: nil, at: start) }
        return player
    }

    @Test(
        "The songs follow each other in time, and after the last one playback stops at the first",
        arguments: [
            (99.999, 0, 99_999, true), (100, 1, 0, true), (299, 1, 199_000, true), (599.999, 2, 299_999, true),
            (600, 0, 0, false), (100_000, 0, 0, false), (-5, 0, 0, true),
        ] as [(TimeInterval, Int, Int, Bool)]
    )
    func time(seconds: TimeInterval, index: Int, position: Int, isPlaying: Bool) throws {
        let later = Self.start.addingTimeInterval(seconds)
        let playback = try #require(try Self.player().advanced(to: later).playback)
        #expect(playback.index == index)
        #expect(playback.positionInMilliseconds == position)
        #expect(playback.isPlaying == isPlaying)
    }

    @Test("Many reads of the state give the same state as one")
    func steps() throws {
        var player = try Self.player()
        for second in 1...457 { player = player.advanced(to: Self.start.addingTimeInterval(TimeInterval(second))) }
        let once = try Self.player().advanced(to: Self.start.addingTimeInterval(457))
        #expect(player == once)
        #expect(once.playback?.changedAt == Self.start.addingTimeInterval(300))
    }

    @Test(
        "A repeated context starts again, and so does a repeated song, also after years",
        arguments: [
            (.context, 650, 0, 50_000), (.context, 700, 1, 0), (.context, 600_000_000 + 450, 2, 150_000),
            (.track, 250, 0, 50_000), (.track, 100_000_000 + 7, 0, 7_000),
        ] as [(PlayerState.RepeatMode, TimeInterval, Int, Int)]
    )
    func repeating(mode: PlayerState.RepeatMode, seconds: TimeInterval, index: Int, position: Int) throws {
        var player = try Self.player()
        player.setRepeatMode(mode, at: Self.start)
        let playback = try #require(player.advanced(to: Self.start.addingTimeInterval(seconds)).playback)
        #expect(playback.index == index && playback.positionInMilliseconds == position && playback.isPlaying)
    }

    @Test("Paused music does not advance, and continues where it was")
    func pause() throws {
        var player = try Self.player()
        try player.command(.pause, on: nil, at: Self.start.addingTimeInterval(30))
        let later = Self.start.addingTimeInterval(5_000)
        #expect(player.advanced(to: later).playback?.positionInMilliseconds == 30_000)
        #expect(throws: WebAPIError.restriction) { try player.command(.pause, on: nil, at: later) }
        try player.play(nil, on: nil, at: later)
        let end = player.advanced(to: later.addingTimeInterval(1))
        #expect(end.playback?.positionInMilliseconds == 31_000)
        #expect(end.playback?.changedAt == later)
        #expect(end.playback?.selection == Self.selection)
    }

    @Test("The first song has none before it and the last one none after it, unless the context is repeated")
    func ends() throws {
        var player = try Self.player()
        #expect(player.refusals == [.resuming, .skippingPrevious])
        #expect(throws: WebAPIError.restriction) { try player.command(.previous, on: nil, at: Self.start) }
        try player.command(.next, on: nil, at: Self.start)
        #expect(player.refusals == [.resuming])
        try player.command(.next, on: nil, at: Self.start)
        #expect(player.refusals == [.resuming, .skippingNext])
        #expect(throws: WebAPIError.restriction) { try player.command(.next, on: nil, at: Self.start) }
        player.setRepeatMode(.context, at: Self.start)
        try player.command(.next, on: nil, at: Self.start)
        #expect(player.playback?.index == 0)
        try player.command(.previous, on: nil, at: Self.start)
        #expect(player.playback?.index == 2)
    }

    @Test("A seek beyond the end starts the next song, and stops after the last one")
    func seek() throws {
        var player = try Self.player()
        try player.command(.seek(99_000), on: nil, at: Self.start)
        #expect(player.playback?.index == 0 && player.playback?.positionInMilliseconds == 99_000)
        try player.command(.seek(Int.max), on: nil, at: Self.start)
        #expect(player.playback?.index == 1 && player.playback?.positionInMilliseconds == 0)
        try player.command(.seek(200_000), on: nil, at: Self.start)
        try player.command(.seek(300_000), on: nil, at: Self.start)
        #expect(player.playback?.index == 0 && player.playback?.isPlaying == false)
    }

    @Test("The volume of a device without a volume control cannot be set")
    func volume() throws {
        var player = try Self.player(playing: false)
        try player.command(.volume(3), on: "a", at: Self.start)
        #expect(player.activeDevice?.volume == 3)
        var mute = try Self.player(volume: nil)
        #expect(throws: WebAPIError.volumeNotControllable) { try mute.command(.volume(3), on: nil, at: Self.start) }
    }

    @Test("A restricted device accepts no commands, but its user can change the playback there")
    func restricted() throws {
        let restricted = Catalogue.Speaker(id: "r", name: "R", type: "TV", isActive: true, isRestricted: true)
        let open = Catalogue.Speaker(id: "o", name: "O", type: "Speaker", isActive: false, isRestricted: false)
        var player = PlayerState(isPremium: true, devices: [restricted, open])
        #expect(throws: WebAPIError.restriction) { try player.play(Self.selection, on: nil, at: Self.start) }
        try player.start(Self.selection, at: Self.start)
        #expect(throws: WebAPIError.restriction) { try player.command(.next, on: nil, at: Self.start) }
        try player.change(.next, at: Self.start)
        #expect(player.playback?.index == 1)
        // Playing music moves to the device that a command names.
        try player.play(nil, position: 7, on: "o", at: Self.start)
        #expect(player.playback?.deviceID == "o" && player.activeDevice?.id == "o")
        #expect(player.playback?.index == 1 && player.playback?.positionInMilliseconds == 7)
    }

    @Test("An impossible playback, or one of an earlier version, ends, and the devices remain")
    func stored() throws {
        let player = try Self.player()
        let text = String(decoding: try JSONEncoder().encode(player), as: UTF8.self)
        #expect(try JSONDecoder().decode(PlayerState.self, from: Data(text.utf8)) == player)
        let old = #"{"deviceID":"a","isPlaying":true,"tracks":["spotify:track:1"],"positionInMilliseconds":0}"#
        let earlier = #"{"isPremium":false,"devices":[],"playback":\#(old)}"#
        let restored = try JSONDecoder().decode(PlayerState.self, from: Data(earlier.utf8))
        #expect(restored == PlayerState(isPremium: false, devices: []))
        for (value, damaged) in [
            (#""durationInMilliseconds":100000"#, #""durationInMilliseconds":0"#),
            (#""positionInMilliseconds":0"#, #""positionInMilliseconds":100001"#),
            (#""index":0"#, #""index":3"#), (#""index":0"#, #""index":-1"#),
        ] {
            try #require(text.contains(value))
            let state = try JSONDecoder().decode(
                PlayerState.self, from: Data(text.replacing(value, with: damaged).utf8))
            #expect(state.playback == nil && state.devices == player.devices, "\(damaged)")
        }
    }
}
