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

    @Test("On ios, a snapshot is this JSON")
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

    @Test("On mac, a snapshot is this JSON")
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
                "commands": [
                    "command.DidRequestOpenPlaylistOnSpotify", "command.PlayOnSpotifyRequested",
                    "command.PlaylistSelected", "command.SpotifyDeauthorizationRequested",
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

    @Test("Before anything happens, the cause is null and everything else present")
    func initial() throws {
        let snapshot = try json(Session("ios").machine.snapshot)
        #expect(snapshot["cause"] == .null)
        #expect(snapshot.value(at: "state.presented") == .null)
        #expect(snapshot.value(at: "state.leaving") == [])
    }

    @Test("A snapshot survives being written and read", arguments: ["ios", "mac"])
    func roundTrip(platform: String) throws {
        var session = try Session.showingPlaylist(on: platform)
        session.send("event.SpotifyDeviceActivationRequired")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        let snapshot = session.machine.snapshot
        let read = try JSONDecoder().decode(NavigationSnapshot.self, from: JSONEncoder().encode(snapshot))
        #expect(read == snapshot)
    }
}
