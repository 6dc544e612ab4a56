import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Support

/// The routes of the Web API's player.
struct PlayerRoutes: Sendable {
    let simulation: Simulation

    /// `GET /v1/me/player/devices`
    func devices(_ request: Request, _ context: SimulatorContext) async throws -> DeviceList {
        try await simulation.update { state, _ in
            DeviceList(devices: state.accounts[context.account].player.devices.map(DeviceObject.init))
        }
    }

    /// `GET /v1/me/player`: 204 without an active device.
    func state(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        let links = try WebAPILinks(request)
        let answer = try await simulation.update { state, now -> PlaybackStateObject? in
            let player = state.accounts[context.account].player.advanced(to: now)
            guard let device = player.activeDevice else { return nil }
            return PlaybackStateObject(
                device: DeviceObject(device), repeatState: player.repeatMode.rawValue, shuffleState: player.isShuffled,
                playing: CurrentlyPlayingObject(player, library: state.library, links: links, at: now))
        }
        return try answer?.response(from: request, context: context) ?? Response(status: .noContent)
    }

    /// `GET /v1/me/player/currently-playing`: 204 if nothing plays and nothing is paused.
    func currentlyPlaying(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        let links = try WebAPILinks(request)
        let answer = try await simulation.update { state, now -> CurrentlyPlayingObject? in
            let player = state.accounts[context.account].player.advanced(to: now)
            guard player.playback != nil else { return nil }
            return CurrentlyPlayingObject(player, library: state.library, links: links, at: now)
        }
        return try answer?.response(from: request, context: context) ?? Response(status: .noContent)
    }

    /// `PUT /v1/me/player/play?device_id=`
    func play(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        let deviceID = try request.queryFields()["device_id"]
        // A request to resume has no body.
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        let command = body.readableBytes == 0 ? PlayCommand() : try Self.decode(PlayCommand.self, from: body)
        try await simulation.update { state, now in
            let selection = try state.library.selection(for: command)
            try state.accounts[context.account].player.play(
                selection, position: command.positionInMilliseconds, on: deviceID, at: now)
        }
        return .noContent
    }

    /// `PUT /v1/me/player`
    func transfer(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        let command = try Self.decode(TransferCommand.self, from: body)
        try await simulation.update { state, now in
            try state.accounts[context.account].player.transfer(command, at: now)
        }
        return .noContent
    }

    /// `PUT /v1/me/player/pause?device_id=`
    func pause(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        try await command(.pause, request: request, context: context)
    }

    /// `POST /v1/me/player/next?device_id=`
    func next(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        try await command(.next, request: request, context: context)
    }

    /// `POST /v1/me/player/previous?device_id=`
    func previous(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        try await command(.previous, request: request, context: context)
    }

    /// `PUT /v1/me/player/seek?position_ms=&device_id=`
    func seek(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        try await command(
            .seek(Self.number("position_ms", 0...Int.max, in: request)), request: request, context: context)
    }

    /// `PUT /v1/me/player/volume?volume_percent=&device_id=`
    func volume(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        try await command(
            .volume(Self.number("volume_percent", 0...100, in: request)), request: request, context: context)
    }

    private func command(
        _ action: PlayerState.Action, request: Request, context: SimulatorContext
    ) async throws -> HTTPResponse.Status {
        let deviceID = try request.queryFields()["device_id"]
        try await simulation.update { state, now in
            try state.accounts[context.account].player.command(action, on: deviceID, at: now)
        }
        return .noContent
    }

    private static func number(_ name: String, _ range: ClosedRange<Int>, in request: Request) throws -> Int {
        guard let text = try request.queryFields()[name] else {
            throw WebAPIError.badRequest("Missing required field: \(name)")
        }
        guard let number = Int(text), range.contains(number) else { throw WebAPIError.badRequest("Invalid \(name)") }
        return number
    }

    private static func decode<Command: Decodable>(_ type: Command.Type, from body: ByteBuffer) throws -> Command {
        do {
            return try JSONDecoder().decode(type, from: Data(body.readableBytesView))
        } catch {
            throw WebAPIError.badRequest("Malformed json")
        }
    }
}

/// The answer to `GET /v1/me/player/devices`.
struct DeviceList: ResponseEncodable, Sendable {
    let devices: [DeviceObject]
}

struct DeviceObject: Encodable, Sendable {
    let id: String
    let isActive: Bool
    let isPrivateSession = false
    let isRestricted: Bool
    let name: String
    let supportsVolume: Bool
    let type: String
    let volumePercent: Nullable<Int>

    init(_ device: Catalogue.Speaker) {
        id = device.id
        isActive = device.isActive
        isRestricted = device.isRestricted
        name = device.name
        supportsVolume = device.volume != nil
        type = device.type
        volumePercent = Nullable(device.volume)
    }
}

/// The answer to `GET /v1/me/player/currently-playing`.
struct CurrentlyPlayingObject: ResponseEncodable, Sendable {
    struct Context: Encodable, Sendable {
        let externalUrls: [String: String]
        let href: String
        let type: String
        let uri: String
    }

    struct Actions: Encodable, Sendable {
        let disallows: [String: Bool]
    }

    let actions: Actions
    /// Null if the client requested tracks.
    let context: Nullable<Context>
    let currentlyPlayingType: String
    let isPlaying: Bool
    /// Null if nothing plays, or the catalogue does not have the track.
    let item: Nullable<WebAPIObject<TrackFields>>
    let progressMs: Nullable<Int>
    /// The last change, in milliseconds since 1970.
    let timestamp: Int

    /// - Parameter player: The state at the time `now`.
    init(_ player: PlayerState, library: Library, links: WebAPILinks, at now: Date) {
        let playback = player.playback
        let song = playback.flatMap { library.song(uri: $0.track.uri) }
        actions = Actions(disallows: Dictionary(uniqueKeysWithValues: player.refusals.map { ($0.rawValue, true) }))
        context = Nullable(playback?.selection.context.flatMap { Self.context($0, links) })
        currentlyPlayingType = song == nil ? "unknown" : "track"
        isPlaying = playback?.isPlaying ?? false
        item = Nullable(song.map { links.track($0, in: library) })
        progressMs = Nullable(playback?.positionInMilliseconds)
        timestamp = Int((playback?.changedAt ?? now).timeIntervalSince1970 * 1_000)
    }

    private static func context(_ uri: String, _ links: WebAPILinks) -> Context? {
        let parts = uri.split(scalar: ":")
        guard parts.count == 3 else { return nil }
        return Context(
            externalUrls: ["spotify": "https://open.spotify.com/\(parts[1])/\(parts[2])"],
            href: links.url("\(parts[1])s/\(parts[2])"), type: String(parts[1]), uri: uri)
    }
}

/// The answer to `GET /v1/me/player`: the fields of `CurrentlyPlayingObject`, the device and the modes.
struct PlaybackStateObject: ResponseEncodable, Sendable {
    let device: DeviceObject
    let repeatState: String
    let shuffleState: Bool
    let playing: CurrentlyPlayingObject

    private enum CodingKeys: String, CodingKey {
        case device, repeatState, shuffleState
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(device, forKey: .device)
        try container.encode(repeatState, forKey: .repeatState)
        try container.encode(shuffleState, forKey: .shuffleState)
        try playing.encode(to: encoder)
    }
}
