import Foundation
import Support

/// The music that plays or is paused.
struct PlaybackQueue: Codable, Sendable, Equatable {
    struct Track: Codable, Sendable, Equatable {
        let uri: String
        let durationInMilliseconds: Int
    }

    /// The music that was requested.
    struct Selection: Codable, Sendable, Equatable {
        /// The URI of the playlist, album or artist. `nil` if tracks were requested.
        let context: String?
        /// The tracks in order. At least one.
        let tracks: [Track]
        /// The track that plays first.
        let index: Int
    }

    var deviceID: String
    let selection: Selection
    private(set) var isPlaying = true
    /// The current track.
    private(set) var index: Int
    /// The position in the track at ``updatedAt``.
    private(set) var positionInMilliseconds = 0
    /// The last change by a command, or by a song that followed the one before.
    private(set) var changedAt: Date
    private var updatedAt: Date

    init(_ selection: Selection, on deviceID: String, at now: Date) {
        self.selection = selection
        self.deviceID = deviceID
        index = selection.index
        changedAt = now
        updatedAt = now
    }

    var track: Track { selection.tracks[index] }

    private var duration: Int { track.durationInMilliseconds }

    /// False for a playback of a state file that the simulator would not have written.
    var isValid: Bool {
        selection.tracks.allSatisfy { (1...86_400_000).contains($0.durationInMilliseconds) }
            && selection.tracks.indices.contains(index) && (0...duration).contains(positionInMilliseconds)
    }

    /// Moves the position to a later time. After a song, the next one plays. After the last one, playback stops at the
    /// first one.
    mutating func advance(to now: Date, repeating mode: PlayerState.RepeatMode) {
        // The clock of a machine may go back. The upper bound is for a time in a damaged state file.
        let elapsed = Int(min(max(0, now.timeIntervalSince(updatedAt) * 1_000), 1e15).rounded())
        guard elapsed > 0 else { return }
        updatedAt = now
        guard isPlaying else { return }
        positionInMilliseconds += elapsed
        finishSongs(repeating: mode)
    }

    mutating func setPlaying(_ isPlaying: Bool, at now: Date) {
        self.isPlaying = isPlaying
        (changedAt, updatedAt) = (now, now)
    }

    /// Begins another track. After the last one comes the first one.
    mutating func skip(by count: Int, at now: Date) {
        let number = selection.tracks.count
        index = (index + count + number) % number
        (positionInMilliseconds, changedAt, updatedAt) = (0, now, now)
    }

    mutating func seek(to position: Int, at now: Date, repeating mode: PlayerState.RepeatMode) {
        // A position beyond the end begins the next song.
        positionInMilliseconds = min(position, duration)
        (changedAt, updatedAt) = (now, now)
        finishSongs(repeating: mode)
    }

    private mutating func finishSongs(repeating mode: PlayerState.RepeatMode) {
        if mode == .context {
            // After a whole round the position is the same, so a long time takes no more steps than a short one.
            positionInMilliseconds %= selection.tracks.reduce(0) { $0 + $1.durationInMilliseconds }
        } else if mode == .track {
            positionInMilliseconds %= duration
        }
        while positionInMilliseconds >= duration {
            positionInMilliseconds -= duration
            index += 1
            changedAt = updatedAt.addingTimeInterval(-Double(positionInMilliseconds) / 1_000)
            guard index == selection.tracks.count else { continue }
            index = 0
            guard mode == .off else { continue }
            (positionInMilliseconds, isPlaying) = (0, false)
            return
        }
    }
}

/// The body of `PUT /me/player/play`. Without a context and without tracks, playback resumes.
struct PlayCommand: Decodable, Sendable, Equatable {
    /// The track that plays first.
    enum Offset: Decodable, Sendable, Equatable {
        /// Its index, from 0.
        case position(Int)
        case uri(String)

        private enum CodingKeys: String, CodingKey { case position, uri }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let position = try container.decodeIfPresent(Int.self, forKey: .position) {
                self = .position(position)
            } else {
                self = .uri(try container.decode(String.self, forKey: .uri))
            }
        }
    }

    /// The URI of a playlist, album or artist.
    var context: String?
    /// The URIs of the tracks, in order.
    var tracks: [String]?
    var offset: Offset?
    /// The position at which playback starts.
    var positionInMilliseconds: Int?

    private enum CodingKeys: String, CodingKey {
        case context = "context_uri"
        case tracks = "uris"
        case offset
        case positionInMilliseconds = "position_ms"
    }

    /// Checks the command without the state of the player.
    func validate() throws(WebAPIError) {
        guard context == nil || tracks == nil else {
            throw .badRequest("Only one of context_uri and uris can be specified")
        }
        if let context, !["playlist", "album", "artist"].contains(where: { context.begins(with: "spotify:\($0):") }) {
            throw .badRequest("Unsupported context uri: \(context)")
        }
        if let tracks {
            guard !tracks.isEmpty else { throw .badRequest("No uris provided") }
            if let stranger = tracks.first(where: { !$0.begins(with: "spotify:track:") }) {
                throw .badRequest("Invalid track uri: \(stranger)")
            }
        }
        if offset != nil, context?.begins(with: "spotify:artist:") == true {
            throw .badRequest("Can't have offset for context type: ARTIST")
        }
        if case .position(let position) = offset, position < 0 { throw .badRequest("Invalid offset") }
        guard positionInMilliseconds ?? 0 >= 0 else { throw .badRequest("position_ms must be positive") }
    }
}

/// The body of `PUT /me/player`.
struct TransferCommand: Decodable, Sendable, Equatable {
    /// The new device. Spotify takes a list, but accepts only one id.
    var deviceIDs: [String]
    /// `true` resumes paused playback on the new device. Otherwise playback remains playing or paused.
    var play: Bool?

    private enum CodingKeys: String, CodingKey {
        case deviceIDs = "device_ids"
        case play
    }
}
