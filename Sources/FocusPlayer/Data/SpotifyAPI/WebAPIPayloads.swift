internal import Vocabulary

/// Spotify's simplified playlist object.
struct PlaylistPayload: Decodable {
    struct Owner: Decodable {
        let id: String?
        let displayName: String?
    }

    struct Contents: Decodable {
        let total: Int?
    }

    let id: String
    let name: String?
    let owner: Owner?
    let items: Contents?
    /// The older name of `items`.
    let tracks: Contents?

    var playlist: Playlist {
        Playlist(
            id: id, name: name ?? "", owner: owner?.displayName ?? owner?.id ?? "",
            songCount: (items ?? tracks)?.total ?? 0)
    }
}

/// An entry of a playlist. Its song may be null, an episode, or a local file without an id.
struct PlaylistEntryPayload: Decodable {
    struct Track: Decodable {
        struct Artist: Decodable {
            let name: String?
        }

        let id: String?
        let uri: String?
        let type: String?
        let name: String?
        let artists: [Artist]?
        let durationMs: Int?
    }

    let isLocal: Bool?
    let item: Track?

    /// The song. Nil for an episode, a local file, and an entry without an id or URI.
    var song: Song? {
        guard isLocal != true, let item, let id = item.id, let uri = item.uri, item.type ?? "track" == "track" else {
            return nil
        }
        return Song(
            id: id, uri: uri, title: item.name ?? "",
            artist: (item.artists ?? []).compactMap(\.name).joined(separator: ", "), duration: item.durationMs ?? 0)
    }
}

/// The devices of an account.
struct DevicesPayload: Decodable {
    struct Item: Decodable {
        let id: String?
        let name: String?
        let type: String?
        let isActive: Bool?
        let isRestricted: Bool?
    }

    let devices: [Tolerant<Item>]

    /// The devices that accept commands. Restricted devices and devices without an id are left out.
    var controllable: [Device] {
        devices.compactMap(\.value).compactMap { item in
            guard let id = item.id, item.isRestricted != true else { return nil }
            return Device(
                id: id, name: item.name ?? id, type: item.type ?? "Unknown", isActive: item.isActive ?? false)
        }
    }
}

/// The fields of the account that are needed.
struct ProfilePayload: Decodable {
    let id: String
}

/// One page of a list.
struct PagePayload<Item: Decodable>: Decodable {
    let items: [Tolerant<Item>]
    /// The absolute URL of the next page. Nil on the last page.
    let next: String?
}

/// An item of a list that may be null or have another form. Such an item is left out, and the others remain.
struct Tolerant<Item: Decodable>: Decodable {
    let value: Item?

    init(from decoder: any Decoder) {
        value = try? Item(from: decoder)
    }
}
