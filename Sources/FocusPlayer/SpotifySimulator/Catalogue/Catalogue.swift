import Foundation
import Sodium
import Support

/// The data that the simulated Spotify starts with: accounts with their devices and playlists, and the registered apps.
package struct Catalogue: Sendable, Equatable {
    /// The applications that may ask for consent.
    var clients: [Client]
    /// The accounts of which a person chooses one at consent. The first one is chosen unless the person chooses
    /// another.
    var accounts: [Account]
    /// The songs of playlists that are available in no country, so that nobody can play them.
    var withdrawnSongs: [Song]
}

extension Catalogue {
    /// An account with its devices and playlists.
    struct Account: Sendable, Equatable {
        /// The user who gives consent.
        var user: User
        /// The Spotify Connect devices of the user, in the order of the list; at most one is active.
        var devices: [Speaker]
        /// The playlists that the user owns or follows, in the order of the list.
        var playlists: [Playlist]
    }

    /// The user of an account.
    struct User: Sendable, Equatable {
        /// The Spotify user id, as in `spotify:user:ID`.
        var id: String
        /// The name that the consent page shows.
        var name: String
        /// The email address. It is sent only to clients with the scope `user-read-email`.
        var email: String
        /// True if the player accepts commands at the start. A request to `/_control/premium` changes that in the
        /// running simulator.
        var isPremium: Bool

        /// The identifier that other services may store. It is computed from ``id``.
        var accountID: String { Song.identifier(of: "account", id) }
    }

    /// An application registered with the simulated Spotify.
    struct Client: Sendable, Equatable {
        /// The `client_id` that the application sends.
        var id: String
        /// The addresses to which consent may redirect. If the list is empty, every valid `RedirectURI` is allowed.
        var redirectURIs: [RedirectURI]

        /// True if consent for this client may redirect to the address.
        func admits(_ redirectURI: RedirectURI) -> Bool {
            redirectURIs.isEmpty || redirectURIs.contains { $0.covers(redirectURI) }
        }
    }

    /// A Spotify Connect device.
    struct Speaker: Codable, Sendable, Equatable {
        /// The id that commands use.
        var id: String
        var name: String
        /// The type, for example `Computer`, `Smartphone` or `Speaker`.
        var type: String
        /// True for the device that plays if a command names no device. At most one device is active.
        var isActive: Bool
        /// True for a device that is listed but accepts no commands from the Web API.
        var isRestricted: Bool
        /// The volume in percent. `nil` if the device has no volume control.
        var volume: Int?
    }

    /// A playlist that the user owns or follows.
    struct Playlist: Sendable, Equatable {
        /// The id. It consists of letters and digits, as Spotify's identifiers do.
        var id: String
        var name: String
        /// The description. Empty if the catalogue gives none.
        var description: String
        /// The id of the user who owns the playlist.
        var owner: String
        /// True if followers may change the playlist.
        var isCollaborative: Bool
        var songs: [Song]

        var uri: String { "spotify:playlist:\(id)" }

        /// True if the user may list the items: the user owns the playlist, or the playlist is collaborative.
        func showsItems(to user: User) -> Bool {
            owner == user.id || isCollaborative
        }
    }

    /// A track. Its identifiers derive from its names.
    struct Song: Sendable, Equatable {
        /// The name of the artist.
        var artist: String
        /// The title of the record.
        var album: String
        var title: String

        /// The identifier of the track: 22 base-62 digits, as at Spotify.
        var id: String { Self.identifier(of: "track", artist, album, title) }
        /// The identifier of the record.
        var albumID: String { Self.identifier(of: "album", artist, album) }
        /// The identifier of the artist.
        var artistID: String { Self.identifier(of: "artist", artist) }

        var uri: String { "spotify:track:\(id)" }
        /// The record's day of release, from 1970 to 2019, as `YYYY-MM-DD`. It is computed from ``albumID``.
        var releaseDate: String {
            let bytes = Self.digest(of: "release", albumID).map(Int.init)
            func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return "\(1970 + bytes[0] % 50)-\(twoDigits(1 + bytes[1] % 12))-\(twoDigits(1 + bytes[2] % 28))"
        }
        /// The International Standard Recording Code. It is computed from ``id``.
        var isrc: String {
            "QZSEG" + Self.digest(of: "isrc", id).prefix(7).map { String($0 % 10) }.joined()
        }

        /// A duration between 2.5 and 5.5 minutes. It is computed from ``id``.
        var durationInMilliseconds: Int {
            150_000 + Int(Self.digest(of: "duration", id).prefix(2).reduce(0) { $0 << 8 | Int($1) }) * 180_000 / 65_536
        }

        fileprivate static func identifier(of parts: String...) -> String {
            let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
            let bytes = digest(of: parts.joined(separator: "\u{1F}")).prefix(22)
            return String(bytes.map { digits[Int($0) % digits.count] })
        }

        private static func digest(of parts: String...) -> [UInt8] {
            Array(SHA256.hash(Data(parts.joined(separator: "\u{1F}").utf8)))
        }

        /// Reads one line of the catalogue's notation for songs.
        ///
        ///     Artist / Album: First Title; Second Title
        ///     Artist / Album: Title 1..30
        ///
        /// The second form stands for “Title 1” to “Title 30”.
        ///
        /// - Returns: The songs in order, or `nil` if the line is not in the notation.
        static func songs(inNotation line: String) -> [Song]? {
            guard
                let (record, titles) = line.cut(at: ":").map({
                    (parts(of: $0.before, at: "/"), parts(of: $0.after, at: ";"))
                })
            else { return nil }
            guard record.count == 2, record.allSatisfy({ !$0.isEmpty }), titles.allSatisfy({ !$0.isEmpty }) else {
                return nil
            }

            var songs: [Song] = []
            for title in titles {
                guard let expanded = expand(title) else { return nil }
                songs += expanded.map { Song(artist: record[0], album: record[1], title: $0) }
            }
            return songs
        }

        private static func parts(of text: Substring, at separator: Unicode.Scalar) -> [String] {
            text.split(scalar: separator, omittingEmptySubsequences: false).map { String($0.trimmed) }
        }

        /// Expands “Title 1..3” to three titles. Returns a title without a range unchanged. `nil` if the range is
        /// invalid or has more than 1,000 numbers.
        private static func expand(_ title: String) -> [String]? {
            guard let (before, end) = title.cut(at: "..") else { return [title] }
            guard let (name, start) = before.cut(atLast: " "), let first = Int(start), let last = Int(end),
                first <= last, last - first < 1_000
            else { return nil }
            return (first...last).map { "\(name) \($0)" }
        }
    }
}
