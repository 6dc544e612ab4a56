/// The state of one account's Spotify Connect: the subscription, the devices and the playback.
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
    ///   - command: The music to play.
    ///   - deviceID: The device to play on. `nil` for the active device.
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

    /// Moves playback to another device, and makes this device the active one.
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

// Changes that a user makes at a device or in a Spotify app, not through the Web API.
extension PlayerState {
    /// Makes a device the active one, as if the user picked it in a Spotify app.
    ///
    /// - Returns: False if the device does not exist.
    mutating func activate(_ id: String) -> Bool {
        guard devices.contains(where: { $0.id == id }) else { return false }
        makeActive(id)
        playback?.deviceID = id
        return true
    }

    /// Makes all devices inactive, as if they fell asleep. They are still listed, and playback ends.
    mutating func deactivateAll() {
        for index in devices.indices { devices[index].isActive = false }
        playback = nil
    }

    /// Replaces the list of devices. Playback ends.
    mutating func replaceDevices(with devices: [Catalogue.Device]) {
        self.devices = devices
        playback = nil
    }
}

/// The music that plays or is paused.
struct Playback: Codable, Sendable, Equatable {
    var deviceID: String
    var isPlaying: Bool
    /// The URI of the playlist, album or artist. `nil` if none was requested.
    var context: String?
    /// The URIs of the tracks; empty if none were requested.
    var tracks: [String]
    var positionInMilliseconds: Int
}

/// The body of `PUT /me/player/play`. Without a context and without tracks, playback resumes.
struct PlayCommand: Decodable, Sendable, Equatable {
    /// The URI of a playlist, album or artist.
    var context: String?
    /// The URIs of the tracks, in order.
    var tracks: [String]?
    /// The position at which playback starts.
    var positionInMilliseconds: Int?

    private enum CodingKeys: String, CodingKey {
        case context = "context_uri"
        case tracks = "uris"
        case positionInMilliseconds = "position_ms"
    }

    /// Checks the command without the state of the player.
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
    /// The new device. Spotify takes a list, but accepts only one id.
    var deviceIDs: [String]
    /// `true` resumes paused playback on the new device. Otherwise playback remains playing or paused.
    var play: Bool?

    private enum CodingKeys: String, CodingKey {
        case deviceIDs = "device_ids"
        case play
    }
}
