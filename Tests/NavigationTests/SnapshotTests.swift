import FlowFiles
import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Snapshots")
struct SnapshotTests {
    private func json(_ snapshot: NavigationSnapshot) throws -> JSONValue {
        try JSONValue(parsing: JSONEncoder().encode(snapshot))
    }

    @Test("A snapshot on ios has this JSON")
    func ios() throws {
        var session = try Session.showingPlaylist("p1", on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        session.report("ScreenGone", "launch-1")
        #expect(
            try json(session.machine.snapshot) == [
                "platform": "ios",
                "session": "default",
                "revision": 6,
                "flow": ["name": "focus-player", "version": 1, "hash": .string(session.machine.flow.hash)],
                "cause": "m6",
                "rule": "transitions[8]",
                "commands": [],
                "state": [
                    "root": ["screen": "playlistSelection", "instance": "playlistSelection-3", "arguments": [:]],
                    "path": [
                        [
                            "screen": "generatedPlaylist", "instance": "generatedPlaylist-4",
                            "arguments": ["playlistID": "p1"],
                        ]
                    ],
                    "presented": [
                        "style": "sheet", "screen": "deviceActivation", "instance": "deviceActivation-5",
                        "arguments": [:], "path": [], "detents": ["medium"], "dragIndicator": true,
                        "presented": [
                            "style": "alert", "screen": "premiumRequired", "instance": "premiumRequired-6",
                            "arguments": [:], "path": [], "title": "Spotify Premium required",
                            "message": """
                            Without Premium, Spotify lets no other app start playback. \
                            You can play the playlist in Spotify.
                            """,
                            "buttons": [
                                [
                                    "id": "open", "title": "Open in Spotify",
                                    "sends": "command.DidRequestOpenPlaylistOnSpotify",
                                ],
                                ["id": "cancel", "title": "Cancel"],
                            ],
                            "presented": .null,
                        ],
                    ],
                    "leaving": [
                        ["screen": "serviceSelection", "instance": "serviceSelection-2", "arguments": [:]]
                    ],
                    "parked": .null,
                ],
                "memory": [
                    "instances": 6,
                    "departures": [["instance": "launch-1", "report": "command.ScreenGone"]],
                ],
                "url": .null,
            ])
    }

    @Test("A snapshot on mac has this JSON")
    func mac() throws {
        var session = try Session.showingPlaylist("p1", on: "mac")
        session.report("ScreenGone", "launch-1")
        session.report("ScreenGone", "serviceSelection-2")
        var snapshot = try json(session.machine.snapshot)
        if case .object(var members) = snapshot {
            members["memory"] = nil
            snapshot = .object(members)
        }
        #expect(
            snapshot == [
                "platform": "mac",
                "session": "default",
                "revision": 5,
                "flow": ["name": "focus-player", "version": 1, "hash": .string(session.machine.flow.hash)],
                "cause": "m5",
                "rule": "transitions[4]",
                "commands": [
                    "command.DidRequestOpenPlaylistOnSpotify", "command.NowPlayingRequested",
                    "command.PlayOnSpotifyRequested", "command.PlaylistSelected",
                    "command.SpotifyDeauthorizationRequested",
                ],
                "state": [
                    "root": [
                        "screen": "playlistSelection", "instance": "playlistSelection-3", "arguments": [:],
                        "container": [
                            "kind": "split",
                            "columns": [
                                "detail": [
                                    "screen": "generatedPlaylist", "instance": "generatedPlaylist-4",
                                    "arguments": ["playlistID": "p1"], "path": [],
                                ]
                            ],
                        ],
                    ],
                    "path": [],
                    "presented": .null,
                    "leaving": [],
                    "parked": .null,
                ],
                "url": "focus://playlist/p1",
            ])
    }

    @Test("The first snapshot has a null cause and all other fields")
    func initial() throws {
        let snapshot = try json(Session("ios").machine.snapshot)
        #expect(snapshot["cause"] == .null)
        #expect(snapshot.value(at: "state.presented") == .null)
        #expect(snapshot.value(at: "state.leaving") == [])
    }

    @Test("A snapshot names the rule that led to it, and none after a view's report")
    func rule() throws {
        var session = try GuardFlow.waiting()
        #expect(session.machine.snapshot.rule == "transitions[3]")
        session.answer()
        #expect(session.machine.snapshot.rule == "transitions[3]")
        session.send("event.Unheard")
        #expect(session.machine.snapshot.rule == "transitions[3]")
        session.report("BackCompleted", "done-3")
        #expect(session.machine.snapshot.rule == nil)
        session.send("event.Out")
        session.report("ScreenGone", "form-2")
        #expect(session.machine.snapshot.rule == "transitions[0]")
        var shop = Session(try Flow(yaml: SignUpFlow.yaml, file: "shop.yaml"))
        shop.send("event.SignUpPushed")
        #expect(shop.machine.snapshot.rule == "transitions[1]")
        shop.send("event.Next")
        #expect(shop.machine.snapshot.rule == "flows.signUp.transitions[0]")
        var player = try Session.showingPlaylist(on: "ios")
        player.open("focus://playlist/p2")
        #expect(player.machine.snapshot.rule == "links[0]")
    }

    @Test("A rejected or late answer names the rule that asked, and a changed flow drops the name")
    func guardedRule() throws {
        var rejected = try GuardFlow.waiting()
        rejected.reject()
        #expect(rejected.presented == ["sorry"])
        #expect(rejected.machine.snapshot.rule == "transitions[3]")
        let snapshot = rejected.machine.snapshot
        #expect(Restoration(snapshot, flow: try GuardFlow.flow()).machine.snapshot.rule == "transitions[3]")
        let changed = try GuardFlow.flow(menuDeadline: .seconds(2))
        #expect(Restoration(snapshot, flow: changed).machine.snapshot.rule == nil)
    }

    @Test("A snapshot of a version without rule names can be read")
    func withoutRule() throws {
        var session = try GuardFlow.waiting()
        session.answer()
        guard case .object(var members) = try json(session.machine.snapshot) else { throw CancellationError() }
        members["rule"] = nil
        let read = try JSONDecoder().decode(
            NavigationSnapshot.self, from: Data(JSONValue.object(members).description.utf8))
        #expect(read.rule == nil)
        #expect(read.state == session.machine.snapshot.state)
    }

    @Test("A snapshot is read back as it was written", arguments: ["ios", "mac"])
    func roundTrip(platform: String) throws {
        var session = try Session.showingPlaylist(on: platform)
        session.send("event.SpotifyDeviceActivationRequired")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        let snapshot = session.machine.snapshot
        let read = try JSONDecoder().decode(NavigationSnapshot.self, from: JSONEncoder().encode(snapshot))
        #expect(read == snapshot)
    }
}
