import Foundation
import Sodium

/// Everything the simulated Spotify knows before anyone talks to it: one account and what it may see.
package struct Catalogue: Sendable, Equatable {
    /// The person who approves consent and owns the tokens.
    var user: User
    /// The applications that may ask for consent.
    var clients: [Client]
    /// The Spotify Connect devices of the user, in the order in which they are listed; at most one is active.
    var devices: [Device]
    /// The playlists that the user owns or follows, in the order in which they are listed.
    var playlists: [Playlist]
}

extension Catalogue {
    /// The account behind every token.
    struct User: Sendable, Equatable {
        /// The Spotify user id, as in `spotify:user:ID`.
        var id: String
        /// The name shown on the consent page.
        var name: String
        /// Shown only to clients that hold `user-read-email`.
        var email: String
        /// Whether the player accepts commands until the control page says otherwise.
        var isPremium: Bool
    }

    /// An application registered with the simulated Spotify.
    struct Client: Sendable, Equatable {
        /// What the application sends as `client_id`.
        var id: String
        /// Where consent may redirect to. Empty: to any address that Spotify would let anyone register.
        var redirectURIs: [RedirectURI]

        /// Whether consent for this client may end at the given address.
        func admits(_ redirectURI: RedirectURI) -> Bool {
            redirectURIs.isEmpty || redirectURIs.contains { $0.covers(redirectURI) }
        }
    }

    /// A Spotify Connect device.
    struct Device: Codable, Sendable, Equatable {
        /// What commands name it by.
        var id: String
        /// What people call it.
        var name: String
        /// `Computer`, `Smartphone`, `Speaker` and so on.
        var type: String
        /// Playback goes to the active device when a command names none; at most one is.
        var isActive: Bool
        /// A restricted device is listed but accepts no command from the Web API.
        var isRestricted: Bool
        /// In percent; `nil` when the device has no volume control.
        var volume: Int?
    }

    /// A playlist that the user owns or follows.
    struct Playlist: Sendable, Equatable {
        /// Letters and digits, as Spotify's identifiers are.
        var id: String
        /// What people call it.
        var name: String
        /// One sentence, or nothing.
        var description: String
        /// The id of the user who owns it.
        var owner: String
        /// Whether its followers may change it. Spotify then shows them its items too.
        var isCollaborative: Bool
        /// In order.
        var songs: [Song]

        /// Whether Spotify lists the items to this user: it does so to owners and collaborators only.
        func showsItems(to user: User) -> Bool {
            owner == user.id || isCollaborative
        }
    }

    /// A track, known by what it is called: equal names give the equal identifiers, whatever playlist they stand in.
    struct Song: Sendable, Equatable {
        /// Who plays it.
        var artist: String
        /// The record it is from.
        var album: String
        /// What it is called.
        var title: String

        /// 22 base-62 digits, the form of Spotify's identifiers.
        var id: String { Self.identifier(of: "track", artist, album, title) }
        /// The identifier of the record.
        var albumID: String { Self.identifier(of: "album", artist, album) }
        /// The identifier of the artist.
        var artistID: String { Self.identifier(of: "artist", artist) }

        /// Between two and a half and five and a half minutes, always the same for the same song.
        var durationInMilliseconds: Int {
            150_000 + Int(Self.digest(of: "duration", id).prefix(2).reduce(0) { $0 << 8 | Int($1) }) * 180_000 / 65_536
        }

        private static func identifier(of parts: String...) -> String {
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
        /// - Parameter line: The line.
        /// - Returns: The songs in order, or `nil` when the line is not in the notation.
        static func songs(inNotation line: String) -> [Song]? {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let record = line[..<colon].split(separator: "/", omittingEmptySubsequences: false).map(\.trimmed)
            let titles = line[line.index(after: colon)...]
                .split(separator: ";", omittingEmptySubsequences: false)
                .map(\.trimmed)
            guard record.count == 2, !record.contains(""), !titles.contains("") else { return nil }

            var songs: [Song] = []
            for title in titles {
                guard let expanded = expand(title) else { return nil }
                songs += expanded.map { Song(artist: record[0], album: record[1], title: $0) }
            }
            return songs
        }

        /// “Title 1..3” is three titles, a title without a range is itself, and a range that makes no sense is `nil`.
        private static func expand(_ title: String) -> [String]? {
            guard let range = title.firstRange(of: "..") else { return [title] }
            let before = title[..<range.lowerBound]
            guard
                let space = before.lastIndex(of: " "),
                let first = Int(before[before.index(after: space)...]),
                let last = Int(title[range.upperBound...]),
                first <= last, last - first < 1_000
            else { return nil }
            return (first...last).map { "\(before[..<space]) \($0)" }
        }
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var rest = self
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
