import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of the Web API's player.
struct PlayerRoutes: Sendable {
    let simulation: Simulation

    /// `GET /v1/me/player/devices`
    func devices(_ request: Request, _ context: SimulatorContext) async throws -> DeviceList {
        try await simulation.update { state, _ in
            DeviceList(devices: state.accounts[context.account].player.devices.map(DeviceObject.init))
        }
    }

    /// `PUT /v1/me/player/play?device_id=`
    func play(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        let deviceID = try request.queryFields()["device_id"]
        // A request to resume has no body.
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        let command = body.readableBytes == 0 ? PlayCommand() : try Self.decode(PlayCommand.self, from: body)
        try await simulation.update { state, _ in
            try state.accounts[context.account].player.play(command, on: deviceID)
        }
        return .noContent
    }

    /// `PUT /v1/me/player`
    func transfer(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        let command = try Self.decode(TransferCommand.self, from: body)
        try await simulation.update { state, _ in
            try state.accounts[context.account].player.transfer(command)
        }
        return .noContent
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
    let volumePercent: Int?

    init(_ device: Catalogue.Device) {
        id = device.id
        isActive = device.isActive
        isRestricted = device.isRestricted
        name = device.name
        supportsVolume = device.volume != nil
        type = device.type
        volumePercent = device.volume
    }
}
