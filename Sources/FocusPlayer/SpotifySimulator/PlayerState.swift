import Foundation

/// The state of one account's Spotify Connect: the subscription, the devices and the playback.
///
/// A playing song advances with the time: methods that depend on the current time take it as a parameter.
struct PlayerState: Codable, Sendable, Equatable {
    /// The part of the music that is repeated.
    enum RepeatMode: String, Codable, CaseIterable, Sendable {
        case off, context, track
    }

    /// A change of the playback.
    enum Action: Sendable, Equatable {
        case resume, pause, next, previous
        /// The new position in milliseconds. A position beyond the end begins the next song.
        case seek(Int)
        /// The new volume in percent.
        case volume(Int)
    }

    var isPremium: Bool
    private(set) var repeatMode = RepeatMode.off
    /// Shown to clients. The order of the songs does not change.
    var isShuffled = false
    private(set) var devices: [Catalogue.Speaker]
    /// The playback after the last change. ``advanced(to:)`` has the playback now.
    private(set) var playback: PlaybackQueue?

    init(isPremium: Bool, devices: [Catalogue.Speaker]) {
        self.isPremium = isPremium
        self.devices = devices
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isPremium = try container.decode(Bool.self, forKey: .isPremium)
        devices = try container.decode([Catalogue.Speaker].self, forKey: .devices)
        repeatMode = try container.decodeIfPresent(RepeatMode.self, forKey: .repeatMode) ?? .off
        isShuffled = try container.decodeIfPresent(Bool.self, forKey: .isShuffled) ?? false
        // The playback of an earlier version has no durations, so it ends.
        let stored = try? container.decodeIfPresent(PlaybackQueue.self, forKey: .playback)
        playback = stored?.isValid == true ? stored : nil
    }

    /// The device that plays if a command names no device.
    var activeDevice: Catalogue.Speaker? { devices.first(where: \.isActive) }

    /// The state at a later time, if no command comes before.
    func advanced(to now: Date) -> PlayerState {
        var state = self
        state.playback?.advance(to: now, repeating: repeatMode)
        return state
    }

    /// The changes that the Web API would refuse now.
    var refusals: Set<Refusal> {
        guard let playback else { return [] }
        var refusals: Set<Refusal> = [playback.isPlaying ? .resuming : .pausing]
        guard repeatMode != .context else { return refusals }
        if playback.index == 0 { refusals.insert(.skippingPrevious) }
        if playback.index == playback.selection.tracks.count - 1 { refusals.insert(.skippingNext) }
        return refusals
    }

    /// A change that the state does not allow, by its name in the Web API.
    enum Refusal: String, Sendable {
        case resuming, pausing
        case skippingPrevious = "skipping_prev"
        case skippingNext = "skipping_next"
    }
}

// Commands of the Web API. They need Premium and a device that accepts commands.
extension PlayerState {
    /// Starts or resumes playback.
    ///
    /// - Parameters:
    ///   - selection: The music to play. `nil` to resume.
    ///   - position: The position at which playback starts, in milliseconds. `nil` for the beginning, or for the
    ///     current position if playback is resumed.
    ///   - deviceID: The device to play on. `nil` for the active device.
    mutating func play(
        _ selection: PlaybackQueue.Selection?, position: Int? = nil, on deviceID: String?, at now: Date
    ) throws(WebAPIError) {
        let device = try commanded(deviceID)
        guard let selection else {
            advance(to: now)
            // Playback on another device moves to this one.
            if playback?.isPlaying == true, playback?.deviceID != device.id {
                playback?.deviceID = device.id
            } else {
                try perform(.resume, at: now)
                playback?.deviceID = device.id
            }
            makeActive(device.id)
            if let position { try perform(.seek(position), at: now) }
            return
        }
        makeActive(device.id)
        playback = PlaybackQueue(selection, on: device.id, at: now)
        if let position { try perform(.seek(position), at: now) }
    }

    /// Changes the playback of the active device.
    ///
    /// - Parameter deviceID: The active device, or `nil`.
    mutating func command(_ action: Action, on deviceID: String?, at now: Date) throws(WebAPIError) {
        let device = try commanded(deviceID)
        guard device.isActive else { throw .restriction }
        advance(to: now)
        try perform(action, at: now)
    }

    /// Moves playback to another device, and makes this device the active one.
    mutating func transfer(_ command: TransferCommand, at now: Date) throws(WebAPIError) {
        guard let id = command.deviceIDs.first else { throw .badRequest("Missing device_ids") }
        guard command.deviceIDs.count == 1 else { throw .badRequest("Only one device_id is currently supported") }
        let device = try commanded(id)
        advance(to: now)
        makeActive(device.id)
        playback?.deviceID = device.id
        if command.play == true, playback?.isPlaying == false { try perform(.resume, at: now) }
    }

    private func commanded(_ id: String?) throws(WebAPIError) -> Catalogue.Speaker {
        guard isPremium else { throw .premiumRequired }
        let found = id == nil ? activeDevice : devices.first { $0.id == id }
        guard let device = found else { throw id == nil ? .noActiveDevice : .deviceNotFound }
        guard !device.isRestricted else { throw .restriction }
        return device
    }

    private mutating func advance(to now: Date) {
        self = advanced(to: now)
    }

    private mutating func perform(_ action: Action, at now: Date) throws(WebAPIError) {
        if case .volume(let percent) = action { return try setVolume(percent) }
        guard var changed = playback else { throw .restriction }
        switch action {
        case .resume where refusals.contains(.resuming), .pause where refusals.contains(.pausing),
            .next where refusals.contains(.skippingNext), .previous where refusals.contains(.skippingPrevious):
            throw .restriction
        case .resume: changed.setPlaying(true, at: now)
        case .pause: changed.setPlaying(false, at: now)
        case .next: changed.skip(by: 1, at: now)
        case .previous: changed.skip(by: -1, at: now)
        case .seek(let position): changed.seek(to: position, at: now, repeating: repeatMode)
        case .volume: break
        }
        playback = changed
    }

    private mutating func setVolume(_ percent: Int) throws(WebAPIError) {
        guard let index = devices.firstIndex(where: \.isActive) else { throw .noActiveDevice }
        guard devices[index].volume != nil else { throw .volumeNotControllable }
        devices[index].volume = percent
    }

    private mutating func makeActive(_ id: String) {
        for index in devices.indices { devices[index].isActive = devices[index].id == id }
    }
}

// Changes that a user makes at a device or in a Spotify app, not through the Web API.
extension PlayerState {
    /// Changes the playback of the active device. Neither Premium nor an unrestricted device is needed.
    mutating func change(_ action: Action, at now: Date) throws(WebAPIError) {
        guard activeDevice != nil else { throw .noActiveDevice }
        advance(to: now)
        try perform(action, at: now)
    }

    /// Plays other music on the active device.
    mutating func start(_ selection: PlaybackQueue.Selection, at now: Date) throws(WebAPIError) {
        guard let device = activeDevice else { throw .noActiveDevice }
        playback = PlaybackQueue(selection, on: device.id, at: now)
    }

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
    mutating func replaceDevices(with devices: [Catalogue.Speaker]) {
        self.devices = devices
        playback = nil
    }

    /// Changes what is repeated, from now on.
    mutating func setRepeatMode(_ mode: RepeatMode, at now: Date) {
        advance(to: now)
        repeatMode = mode
    }
}
