import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The Web API's player.
struct PlayerRoutes: Sendable {
    let simulation: Simulation

    /// `GET /v1/me/player/devices`
    func devices(_ request: Request, _ context: SimulatorContext) async throws -> DevicesPayload {
        try await simulation.update { state, _ in DevicesPayload(state.player.devices) }
    }

    /// `PUT /v1/me/player/play?device_id=`
    func play(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        let deviceID = try request.queryFields()["device_id"]
        // Resuming takes no body.
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        let command = body.readableBytes == 0 ? PlayCommand() : try Self.decode(PlayCommand.self, from: body)
        try await simulation.update { state, _ in try state.player.play(command, on: deviceID) }
        return .noContent
    }

    /// `PUT /v1/me/player`
    func transfer(_ request: Request, _ context: SimulatorContext) async throws -> HTTPResponse.Status {
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        let command = try Self.decode(TransferCommand.self, from: body)
        try await simulation.update { state, _ in try state.player.transfer(command) }
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
