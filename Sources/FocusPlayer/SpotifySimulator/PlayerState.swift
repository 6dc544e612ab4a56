/// The user's Spotify Connect: subscription, devices and what plays where.
struct PlayerState: Codable, Sendable, Equatable {
    var isPremium: Bool
    private(set) var devices: [Catalogue.Device]
    private(set) var playback: Playback?

    init(isPremium: Bool, devices: [Catalogue.Device]) {
        self.isPremium = isPremium
        self.devices = devices
    }

    /// Starts or resumes playback.
    ///
    /// - Parameters:
    ///   - command: What to play.
    ///   - deviceID: Where; the active device unless said.
    mutating func play(_ command: PlayCommand, on deviceID: String?) throws(WebAPIError) {
        try command.validate()
        guard isPremium else { throw .premiumRequired }
        let device = try target(deviceID)
        makeActive(device.id)
        let resumed = command.context == nil && command.tracks == nil ? playback : nil
        playback = Playback(
            deviceID: device.id,
            isPlaying: true,
            context: command.context ?? resumed?.context,
            tracks: command.tracks ?? resumed?.tracks ?? [],
            positionInMilliseconds: command.positionInMilliseconds ?? resumed?.positionInMilliseconds ?? 0
        )
    }

    /// Moves playback to another device, which becomes the active one.
    mutating func transfer(_ command: TransferCommand) throws(WebAPIError) {
        guard let id = command.deviceIDs.first else { throw .badRequest("Missing device_ids") }
        guard command.deviceIDs.count == 1 else { throw .badRequest("Only one device_id is currently supported") }
        guard isPremium else { throw .premiumRequired }
        let device = try target(id)
        makeActive(device.id)
        playback?.deviceID = device.id
        if command.play == true { playback?.isPlaying = true }
    }

    private func target(_ id: String?) throws(WebAPIError) -> Catalogue.Device {
        let found = devices.first { device in id.map { $0 == device.id } ?? device.isActive }
        guard let device = found else { throw id == nil ? .noActiveDevice : .deviceNotFound }
        guard !device.isRestricted else { throw .restrictedDevice }
        return device
    }

    private mutating func makeActive(_ id: String) {
        for index in devices.indices { devices[index].isActive = devices[index].id == id }
    }
}

// What happens at the devices themselves, where the Web API has no say.
extension PlayerState {
    /// The user picks the device in a Spotify app.
    ///
    /// - Returns: Whether there is such a device.
    mutating func activate(_ id: String) -> Bool {
        guard devices.contains(where: { $0.id == id }) else { return false }
        makeActive(id)
        playback?.deviceID = id
        return true
    }

    /// Every device falls asleep: still listed, none active, nothing playing.
    mutating func deactivateAll() {
        for index in devices.indices { devices[index].isActive = false }
        playback = nil
    }

    /// The devices disappear, or others appear.
    mutating func replaceDevices(with devices: [Catalogue.Device]) {
        self.devices = devices
        playback = nil
    }
}

/// What the user hears, or has paused.
struct Playback: Codable, Sendable, Equatable {
    var deviceID: String
    var isPlaying: Bool
    /// The playlist, album or artist, when one was asked for.
    var context: String?
    /// The tracks, when they were asked for one by one.
    var tracks: [String]
    var positionInMilliseconds: Int
}

/// The body of `PUT /me/player/play`. Without a context and without tracks it resumes what was playing.
struct PlayCommand: Decodable, Sendable, Equatable {
    /// A playlist, album or artist.
    var context: String?
    /// The tracks to play, in order.
    var tracks: [String]?
    /// Where in the first track to begin.
    var positionInMilliseconds: Int?

    private enum CodingKeys: String, CodingKey {
        case context = "context_uri"
        case tracks = "uris"
        case positionInMilliseconds = "position_ms"
    }

    /// Whether the command makes sense whatever the state of the player is.
    func validate() throws(WebAPIError) {
        guard context == nil || tracks == nil else {
            throw .badRequest("Only one of context_uri and uris can be specified")
        }
        if let context, !["playlist", "album", "artist"].contains(where: { context.hasPrefix("spotify:\($0):") }) {
            throw .badRequest("Unsupported context uri: \(context)")
        }
        if let tracks {
            guard !tracks.isEmpty else { throw .badRequest("No uris provided") }
            if let stranger = tracks.first(where: { !$0.hasPrefix("spotify:track:") }) {
                throw .badRequest("Invalid track uri: \(stranger)")
            }
        }
        guard positionInMilliseconds ?? 0 >= 0 else { throw .badRequest("position_ms must be positive") }
    }
}

/// The body of `PUT /me/player`.
struct TransferCommand: Decodable, Sendable, Equatable {
    /// Spotify takes a list, but no more than one.
    var deviceIDs: [String]
    /// `true` makes sure that playback happens on the new device; otherwise it goes on as it was.
    var play: Bool?

    private enum CodingKeys: String, CodingKey {
        case deviceIDs = "device_ids"
        case play
    }
}
