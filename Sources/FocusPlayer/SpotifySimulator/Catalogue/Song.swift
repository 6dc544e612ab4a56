import Foundation
import Sodium

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
}
