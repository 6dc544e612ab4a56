package import Contracts
internal import EventBus
internal import Foundation
package import Support

extension Document {
    /// The playlists of the account, in Spotify's order. Empty if no account is connected.
    package struct Playlists: DocumentMessage {
        /// While the status is `loading` or `failed`, the playlists of the last successful load.
        package var playlists: [Playlist]
        package var status: LoadStatus

        package static let line: String? = "${status}"

        package init(playlists: [Playlist], status: LoadStatus = .ready) {
            self.playlists = playlists
            self.status = status
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            playlists = try container.decode([Playlist].self, forKey: .playlists)
            // Earlier versions have no status, and publish the document when the playlists are loaded.
            status = try container.decodeIfPresent(LoadStatus.self, forKey: .status) ?? .ready
        }
    }

    /// The shuffled focus playlist.
    package struct GeneratedPlaylist: DocumentMessage {
        package var playlistID: String
        package var status: LoadStatus
        /// The number of songs of the playlist. 0 unless the status is `ready`.
        @BoundedCount package var total: Int
        /// The first songs, at most ``Song/pageSize`` bytes of JSON. `query.PlaylistSongs` returns the others.
        package var songs: [Song]

        package static let line: String? = "${playlistID} ${status}, ${total} songs"

        package init(playlistID: String, status: LoadStatus, songs: [Song] = []) {
            self.playlistID = playlistID
            self.status = status
            total = songs.count
            self.songs = Array(Song.page(of: songs[...]))
        }
    }

    /// The music that the account plays, on any device and from any Spotify client. It is published again when it has
    /// changed in a way that ``Playback/position(at:)`` does not foresee.
    package struct NowPlaying: DocumentMessage, Hashable {
        package enum Status: String, Codable, Sendable, CaseIterable {
            /// Spotify has not answered yet.
            case loading
            case following
            /// Spotify does not answer, or asks to wait. ``playback`` is the last one that is known.
            case interrupted
            /// The playback is not followed any more.
            case ended
        }

        package var status: Status
        /// Nil if nothing plays and nothing is paused, and while the status is `loading` or `ended`.
        package var playback: Playback?

        package init(status: Status, playback: Playback? = nil) {
            self.status = status
            self.playback = playback
        }
    }

    /// The account's devices that can play.
    package struct Devices: DocumentMessage {
        package var devices: [Speaker]

        package init(devices: [Speaker]) {
            self.devices = devices
        }
    }
}

/// The state of a list that is fetched from Spotify.
package enum LoadStatus: String, Codable, Sendable, CaseIterable {
    case loading
    case ready
    case failed
}

/// The fields of a playlist that a list of playlists shows.
package struct Playlist: Codable, Hashable, Sendable, Identifiable {
    package var id: String
    package var name: String
    /// The display name of the playlist's owner, or else the owner's id.
    package var owner: String
    @BoundedCount package var songCount: Int

    package init(id: String, name: String, owner: String, songCount: Int) {
        self.id = id
        self.name = name
        self.owner = owner
        self.songCount = songCount
    }
}

/// A song of a playlist.
package struct Song: Codable, Hashable, Sendable, Identifiable {
    package var id: String
    /// The Spotify URI, with which a player plays the song.
    package var uri: String
    package var title: String
    package var artist: String
    /// The duration in milliseconds.
    @BoundedCount package var duration: Int

    package init(id: String, uri: String, title: String, artist: String, duration: Int) {
        self.id = id
        self.uri = uri
        self.title = title
        self.artist = artist
        self.duration = duration
    }
}

extension Song {
    /// The maximum size of the songs in one message, in bytes of JSON.
    package static let pageSize = 512 * 1024

    /// The first of these songs: as many as fit into ``pageSize``, but at least one.
    package static func page(of songs: ArraySlice<Song>) -> ArraySlice<Song> {
        // The brackets of the array.
        var size = 2
        let end = songs.firstIndex { song in
            size += ((try? JSONWriter.bytes(of: song).count) ?? pageSize) + 1
            return size > pageSize
        }
        guard let end else { return songs }
        return songs[..<max(end, songs.index(after: songs.startIndex))]
    }
}

/// A Spotify device that can play.
package struct Speaker: Codable, Hashable, Sendable, Identifiable {
    package var id: String
    package var name: String
    /// The type as Spotify names it, such as `Computer`, `Smartphone` or `Speaker`.
    package var type: String
    package var isActive: Bool

    package init(id: String, name: String, type: String, isActive: Bool) {
        self.id = id
        self.name = name
        self.type = type
        self.isActive = isActive
    }
}
