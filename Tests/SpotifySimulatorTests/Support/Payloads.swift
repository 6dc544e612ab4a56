/// What a client decodes. Written apart from the simulator's own payloads, so that a renamed field is noticed.
struct Tokens: Decodable {
    let accessToken: String
    let tokenType: String
    let scope: String
    let expiresIn: Int
    let refreshToken: String?
}

struct Listing<Item: Decodable>: Decodable {
    let items: [Item]
    let limit: Int
    let next: String?
    let previous: String?
    let total: Int
}

struct ListedPlaylist: Decodable {
    struct Items: Decodable {
        let href: String
        let total: Int
    }
    let id: String
    let name: String
    let items: Items
}

struct ListedItem: Decodable {
    struct Track: Decodable {
        let id: String
        let name: String
        let uri: String
        let durationMs: Int
    }
    let item: Track
}

struct ListedDevices: Decodable {
    struct Device: Decodable, Equatable {
        let id: String
        let isActive: Bool
    }
    let devices: [Device]

    var active: [String] { devices.filter(\.isActive).map(\.id) }
}

struct Control: Decodable {
    struct Playback: Decodable {
        let deviceId: String
        let isPlaying: Bool
        let context: String?
        let tracks: [String]
    }
    struct TokenCounts: Decodable {
        let issued: Int
        let refreshes: Int
    }
    let premium: Bool
    let playback: Playback?
    let tokens: TokenCounts
    let requests: [String: Int]
}
