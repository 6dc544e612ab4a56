import Music
import Vocabulary

/// Remembers what it was told, and fails where it is told to.
actor ScriptedPlayer: Player {
    enum Call: Equatable {
        case devices
        case play([String], on: String?)
        case transfer(String)
    }

    private(set) var calls: [Call] = []
    private let found: Result<[Device], MusicError>
    private let playFailure: MusicError?
    private let transferFailure: MusicError?

    init(
        devices: Result<[Device], MusicError> = .success([]), play: MusicError? = nil, transfer: MusicError? = nil
    ) {
        found = devices
        playFailure = play
        transferFailure = transfer
    }

    func devices() async throws -> [Device] {
        calls.append(.devices)
        return try found.get()
    }

    func play(_ songs: [Song], on deviceID: Device.ID?) async throws {
        calls.append(.play(songs.map(\.uri), on: deviceID))
        if let playFailure { throw playFailure }
    }

    func transfer(to deviceID: Device.ID) async throws {
        calls.append(.transfer(deviceID))
        if let transferFailure { throw transferFailure }
    }
}
