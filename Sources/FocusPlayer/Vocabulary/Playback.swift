package import Support

/// The music that plays or is paused.
package struct Playback: Codable, Hashable, Sendable {
    /// A song that plays. Its playlist need not be known.
    package struct Track: Codable, Hashable, Sendable {
        package var title: String
        /// The names of all artists.
        package var artist: String
        /// Nil if Spotify names none.
        package var album: String?
        /// The duration in milliseconds.
        @BoundedCount package var duration: Int

        package init(title: String, artist: String, album: String? = nil, duration: Int) {
            self.title = title
            self.artist = artist
            self.album = album
            self.duration = duration
        }
    }

    /// The device that plays.
    package struct Speaker: Codable, Hashable, Sendable {
        package var name: String
        /// The type as Spotify names it, such as `Computer`, `Smartphone` or `Speaker`.
        package var type: String
        /// The volume in percent. Nil if it cannot be set from another device.
        package var volume: Int?

        package init(name: String, type: String, volume: Int? = nil) {
            self.name = name
            self.type = type
            self.volume = volume
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                name: try container.decode(String.self, forKey: .name),
                type: try container.decode(String.self, forKey: .type),
                volume: try container.decodeIfPresent(BoundedCount<Int>.self, forKey: .volume)?.wrappedValue)
        }
    }

    /// Nil if Spotify plays something else, such as an episode of a podcast or an advertisement.
    package var track: Track?
    package var isPlaying: Bool
    /// The position in milliseconds at the time ``measuredAt``.
    @BoundedCount package var position: Int
    /// The time at which ``position`` was measured, in milliseconds since 1970.
    @BoundedCount package var measuredAt: Int
    /// Nil if Spotify names none.
    package var device: Speaker?

    package init(track: Track?, isPlaying: Bool, position: Int, measuredAt: Int, device: Speaker? = nil) {
        self.track = track
        self.isPlaying = isPlaying
        self.position = position
        self.measuredAt = measuredAt
        self.device = device
    }

    /// The position at another time, if nobody changes the playback. It is not beyond the end of the track.
    /// - Parameter time: in milliseconds since 1970.
    package func position(at time: Int) -> Int {
        guard isPlaying else { return position }
        return min(position + max(0, time - measuredAt), track?.duration ?? .max)
    }
}
