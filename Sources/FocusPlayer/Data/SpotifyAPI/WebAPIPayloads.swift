internal import Music
internal import Vocabulary

/// Spotify's simplified playlist object. Only its id is needed; a field that cannot be read is left out.
struct PlaylistPayload: Decodable {
    struct Owner: Decodable {
        let id: Tolerant<String>?
        let displayName: Tolerant<String>?
    }

    struct Contents: Decodable {
        let total: TolerantNumber?
    }

    let id: String
    let name: Tolerant<String>?
    let owner: Tolerant<Owner>?
    let items: Tolerant<Contents>?
    /// The older name of `items`.
    let tracks: Tolerant<Contents>?

    /// Nil if the id cannot be one.
    var playlist: Playlist? {
        guard let id = ServerText.identifier(id) else { return nil }
        let owner = owner?.value
        return Playlist(
            id: id, name: ServerText.name(name?.value ?? ""),
            owner: ServerText.name(owner?.displayName?.value ?? owner?.id?.value ?? ""),
            songCount: max(0, (items?.value ?? tracks?.value)?.total?.value ?? 0))
    }
}

/// The version of a playlist's content.
struct PlaylistVersionPayload: Decodable {
    let snapshotId: Tolerant<String>?
}

/// An entry of a playlist. Its song may be null, an episode, or a local file without an id.
struct PlaylistEntryPayload: Decodable {
    struct Track: Decodable {
        struct Artist: Decodable {
            let name: Tolerant<String>?
        }

        let id: Tolerant<String>?
        let uri: Tolerant<String>?
        let type: Tolerant<String>?
        let name: Tolerant<String>?
        let artists: Tolerant<[Tolerant<Artist>]>?
        let durationMs: TolerantNumber?
        /// Nil if the request names no market.
        let isPlayable: TolerantFlag?
        /// The countries in which the song is available. Nil if Spotify does not name them.
        let availableMarkets: Tolerant<[Tolerant<String>]>?
        /// Present if the song cannot be played. Its content is not needed.
        let restrictions: Tolerant<Restrictions>?

        struct Restrictions: Decodable {
            let reason: Tolerant<String>?
        }
    }

    let isLocal: TolerantFlag?
    let item: Tolerant<Track>?

    /// The song. Nil for an entry that is not a track, is a local file, cannot be played, or has no id.
    var song: Song? {
        guard isLocal?.value != true, let item = item?.value, item.type?.value ?? "track" == "track",
            item.isAvailable, let id = ServerText.identifier(item.id?.value),
            let uri = ServerText.identifier(item.uri?.value)
        else { return nil }
        let artists = (item.artists?.value ?? []).compactMap { $0.value?.name?.value }
        let song = Song(
            id: id, uri: uri, title: ServerText.name(item.name?.value ?? ""),
            artist: ServerText.name(artists.joined(separator: ", ")), duration: max(0, item.durationMs?.value ?? 0))
        return song.isTrack ? song : nil
    }
}

extension PlaylistEntryPayload.Track {
    /// False if the song cannot be played: in the request's market, or in any.
    fileprivate var isAvailable: Bool {
        guard restrictions?.value?.reason?.value == nil else { return false }
        return isPlayable?.value ?? (availableMarkets?.value?.isEmpty != true)
    }
}

/// The devices of an account.
struct DevicesPayload: Decodable {
    struct Item: Decodable {
        let id: Tolerant<String>?
        let name: Tolerant<String>?
        let type: Tolerant<String>?
        let isActive: TolerantFlag?
        let isRestricted: TolerantFlag?
    }

    let devices: [Tolerant<Item>]

    /// The devices that accept commands. Restricted devices and devices without an id are left out.
    var controllable: [Speaker] {
        devices.compactMap(\.value).compactMap { item in
            guard let id = ServerText.identifier(item.id?.value), item.isRestricted?.value != true else { return nil }
            return Speaker(
                id: id, name: ServerText.name(item.name?.value ?? id),
                type: ServerText.name(item.type?.value ?? "Unknown"), isActive: item.isActive?.value ?? false)
        }
    }
}

/// The playback of an account.
struct PlayerPayload: Decodable {
    struct Item: Decodable {
        struct Named: Decodable {
            let name: Tolerant<String>?
        }

        let type: Tolerant<String>?
        let name: Tolerant<String>?
        let artists: Tolerant<[Tolerant<Named>]>?
        let album: Tolerant<Named>?
        let durationMs: TolerantNumber?
    }

    struct Speaker: Decodable {
        let name: Tolerant<String>?
        let type: Tolerant<String>?
        let volumePercent: TolerantNumber?
        let supportsVolume: TolerantFlag?
    }

    let device: Tolerant<Speaker>?
    let isPlaying: TolerantFlag?
    let progressMs: TolerantNumber?
    let item: Tolerant<Item>?

    /// The playback. Nil if nothing plays and nothing is paused.
    /// - Parameter time: the time of the answer, in milliseconds since 1970.
    func playback(at time: Int) -> Playback? {
        let isPlaying = isPlaying?.value ?? false
        guard isPlaying || item?.value != nil else { return nil }
        return Playback(
            track: track, isPlaying: isPlaying, position: max(0, progressMs?.value ?? 0), measuredAt: time,
            device: device?.value.map { device in
                Playback.Speaker(
                    name: ServerText.name(device.name?.value ?? ""),
                    type: ServerText.name(device.type?.value ?? "Unknown"),
                    volume: device.supportsVolume?.value == false
                        ? nil : device.volumePercent?.value.map { min(max($0, 0), 100) })
            })
    }

    private var track: Playback.Track? {
        guard let item = item?.value, item.type?.value ?? "track" == "track" else { return nil }
        let artists = (item.artists?.value ?? []).compactMap { $0.value?.name?.value }
        return Playback.Track(
            title: ServerText.name(item.name?.value ?? ""),
            artist: ServerText.name(artists.joined(separator: ", ")),
            album: item.album?.value?.name?.value.map(ServerText.name),
            duration: max(0, item.durationMs?.value ?? 0))
    }
}

/// The fields of the account that are needed.
struct ProfilePayload: Decodable {
    let id: String
}

/// One page of a list. Every field but the items is advice.
struct PagePayload<Payload: Decodable>: Decodable {
    let items: [Tolerant<Payload>]
    /// Null on the last page. The URL itself is not used: it may name a path that Spotify has removed, or another host.
    let next: Tolerant<String>?
    let limit: TolerantNumber?
    let total: TolerantNumber?

    /// - Parameter item: converts an entry. Nil for an entry that is left out.
    func page<Item>(_ item: (Payload) -> Item?) -> ListReading<Item>.Page {
        ListReading.Page(
            items: items.compactMap(\.value).compactMap(item), entryCount: items.count, hasNext: next != nil,
            limit: limit?.value, total: total?.value)
    }
}
