import Contracts
import EventBus
import Music
import Vocabulary

/// A player that records its calls. A test decides which of them fail.
actor ScriptedPlayer: Player {
    enum Call: Equatable {
        case devices
        case play([String], on: String?)
        case transfer(String)
        case playback
        case change(PlaybackChange)
    }

    private(set) var calls: [Call] = []
    private let found: Result<[Speaker], MusicError>
    private let playFailure: MusicError?
    private let transferFailure: MusicError?
    private let playbackFailure: MusicError?

    init(
        devices: Result<[Speaker], MusicError> = .success([]), play: MusicError? = nil, transfer: MusicError? = nil,
        playback: MusicError? = nil
    ) {
        found = devices
        playFailure = play
        transferFailure = transfer
        playbackFailure = playback
    }

    func speakers() async throws -> [Speaker] {
        calls.append(.devices)
        return try found.get()
    }

    func play(_ songs: [Song], on deviceID: Speaker.ID?) async throws {
        calls.append(.play(songs.map(\.uri), on: deviceID))
        if let playFailure { throw playFailure }
    }

    func transfer(to deviceID: Speaker.ID) async throws {
        calls.append(.transfer(deviceID))
        if let transferFailure { throw transferFailure }
    }

    func playback() async throws -> Playback? {
        calls.append(.playback)
        if let playbackFailure { throw playbackFailure }
        return nil
    }

    func change(_ change: PlaybackChange) async throws {
        calls.append(.change(change))
        if let playFailure { throw playFailure }
    }
}

/// A repository with fixed content.
struct StaticRepository: PlaylistRepository {
    var lists: Result<[Playlist], any Error> = .success([])
    var contents: Result<[Song], any Error> = .success([])
    var kept: [Playlist.ID: [Song]] = [:]

    func playlists() async throws -> [Playlist] { try lists.get() }
    func songs(of playlistID: Playlist.ID) async throws -> [Song] { try contents.get() }
    func keptSongs(of playlistID: Playlist.ID) async throws -> [Song]? { kept[playlistID] }
    func forget() async {}
}

extension Song {
    static let episode = Song(id: "e", uri: "spotify:episode:e", title: "Talk", artist: "A", duration: 1000)

    static func fixture(_ number: Int) -> Song {
        Song(id: "s\(number)", uri: "spotify:track:s\(number)", title: "Song \(number)", artist: "A", duration: 1000)
    }
}

extension Speaker {
    static let kitchen = Speaker(id: "kitchen", name: "Kitchen", type: "Speaker", isActive: false)
}

extension Document.GeneratedPlaylist {
    static let ready = Document.GeneratedPlaylist(
        playlistID: "p", status: .ready, songs: [.fixture(1), .fixture(2)])
}

extension [any Message] {
    /// The message types, in order.
    var types: [String] { map { Swift.type(of: $0).type.description } }

    var errorCodes: [String] { compactMap { ($0 as? ApplicationError)?.code } }

    func first<M: Message>(_ type: M.Type) -> M? {
        lazy.compactMap { $0 as? M }.first
    }
}
