/// The user's Spotify Connect: subscription, devices and what plays where.
struct PlayerState: Codable, Sendable, Equatable {
    var isPremium: Bool
    private(set) var devices: [Device]
    private(set) var playback: Playback?

    init(isPremium: Bool, devices: [Device]) {
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

    private func target(_ id: String?) throws(WebAPIError) -> Device {
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
    mutating func replaceDevices(with devices: [Device]) {
        self.devices = devices
        playback = nil
    }
}
