import Contracts
import Coordinator
import Device
import DeviceTestSupport
import EventBus
import FlowFiles
import Foundation
import Logging
import Navigation
import Presentation
import ServiceLifecycle
import Support
import Synchronization
import TestSupport
import Testing
import Vocabulary

@testable import TerminalDevice

/// Devices on a bus with scripted services, and with the coordinators of the flows in `config/flows`.
struct DeviceFixture: Sendable {
    let hub = InMemoryHub(maximumGap: 1000)
    let view: EventBus
    let transcript = Transcript()

    init() {
        view = EventBus.inMemory(source: "test/1", hub: hub)
    }

    /// The output of a device.
    final class Transcript: Sendable {
        private let written = Mutex("")
        private let writes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

        var text: String { written.withLock(\.self) }

        func write(_ text: String) {
            written.withLock { $0 += text }
            writes.continuation.yield()
        }

        /// Waits until what a terminal of 80 columns and 24 rows shows meets a condition.
        func shows(_ condition: (String) -> Bool) async throws {
            func isShown() -> Bool {
                var screen = TerminalScreen(columns: 80, rows: 24)
                screen.write(text)
                return condition(screen.text)
            }
            if isShown() { return }
            for await _ in writes.stream where isShown() { return }
            throw CancellationError()
        }

        /// Waits until this text has been written.
        func contains(_ part: String) async throws {
            if text.contains(part) { return }
            for await _ in writes.stream where text.contains(part) { return }
            throw CancellationError()
        }
    }

    func device(
        _ platform: String, number: Int = 1, subject: String = Session.default, flow: Flow? = nil, lines: [String],
        mode: Terminal.Mode = .scripted,
        size: TerminalSize? = nil, on bus: EventBus? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) -> TerminalDevice {
        let lines = AsyncStream<String?> { continuation in
            for line in lines { continuation.yield(line) }
            continuation.finish()
        }
        return device(
            platform, number: number, subject: subject, flow: flow, lines: lines, mode: mode, size: size, on: bus,
            clock: clock)
    }

    func device(
        _ platform: String, number: Int = 1, subject: String = Session.default, flow: Flow? = nil,
        lines: AsyncStream<String?>, mode: Terminal.Mode = .scripted,
        size: TerminalSize? = nil, on bus: EventBus? = nil, clock: any Clock<Duration> = ContinuousClock(),
        log: ScreenLog? = nil, now: @escaping @Sendable () -> Date = { Date() }
    ) -> TerminalDevice {
        let terminal = Terminal(
            lines: lines, mode: mode, size: { size }, log: log,
            write: { [transcript] in transcript.write($0.description) })
        let identity = DeviceIdentity(
            platform: platform, device: "\(platform)-\(number)", subject: subject,
            source: "device/\(platform)-\(number)")
        return TerminalDevice(
            identity, bus: bus ?? EventBus.inMemory(source: identity.source, hub: hub), busAddress: "memory:",
            terminal: terminal, flow: flow, screens: .focusPlayer, browser: nil, logger: .silent, clock: clock, now: now
        )
    }

    /// Runs both coordinators and the services while `body` runs.
    /// - Parameter songs: The number of songs of each playlist. The document contains the first one.
    func withApp(songs: Int = 1, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withRunning(coordinator("ios")) {
            try await withRunning(coordinator("mac")) {
                let services = ScriptedServices(
                    bus: EventBus.inMemory(source: "services/1", hub: hub), songCount: songs)
                try await withRunning(services, body)
            }
        }
    }

    private func coordinator(_ platform: String) throws -> Coordinator {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../config/flows")
        let file = folder.appending(path: "\(platform).yaml")
        let flow = try Flow(yaml: String(contentsOf: file, encoding: .utf8), file: file.lastPathComponent)
        let bus = EventBus.inMemory(source: "navigation-coordinator/\(platform)", hub: hub)
        return Coordinator(flow: flow, bus: bus, logger: .silent)
    }

    func state(_ platform: String, subject: String = Session.default) async throws -> NavigationState {
        let document = try await view.document(Document.NavigationState.self, subject: subject, key: platform)
        return try #require(document).snapshot.state
    }
}

/// Answers some commands of the app in place of the services, without errors. No device is active, and the account
/// plays the same song at first whatever was requested.
struct ScriptedServices: Service {
    let bus: EventBus
    let songCount: Int

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await bus.serve([Query.PlaylistSongs.type], whenServing: {}) { query in try songs(for: query) }
            }
            group.addTask { try await handleCommands() }
            try await group.next()
            group.cancelAll()
        }
    }

    /// A page of one song; an error about the playlist `rain`.
    private func songs(for message: Envelope) throws -> Envelope {
        let query = try message.decode(Query.PlaylistSongs.self)
        if query.playlistID == "rain" { return try .answer(ApplicationError(code: "a.b", message: "No songs")) }
        let number = (query.offset ?? 0) + 1
        let song = Song(id: "s\(number)", uri: "u", title: "Song \(number)", artist: "A", duration: 1000)
        return try .page([song], total: songCount)
    }

    private func handleCommands() async throws {
        try await bus.withSubscription(to: [.kind(.command)], from: .beginning) { messages in
            var playback = Playback.rain
            for try await message in messages {
                if try change(&playback, by: message) {
                    try await bus.publish(
                        Document.NowPlaying(status: .following, playback: playback), causedBy: message)
                    if message.type != Command.NowPlayingRequested.type {
                        try await bus.publish(DomainEvent.PlaybackChanged(), causedBy: message)
                    }
                }
                for answer in answers(to: message.type) {
                    try await bus.publish(answer, causedBy: message)
                }
                if message.type == Command.PlaylistSelected.type {
                    let playlistID = try message.decode(Command.PlaylistSelected.self).playlistID
                    var generated = Document.GeneratedPlaylist.calm
                    (generated.playlistID, generated.total) = (playlistID, songCount)
                    try await bus.publish(generated, causedBy: message)
                }
            }
        }
    }

    /// Changes the playback as Spotify does.
    /// - Returns: False if the message has nothing to do with the playback.
    private func change(_ playback: inout Playback, by message: Envelope) throws -> Bool {
        switch message.type {
        case Command.NowPlayingRequested.type: break
        case Command.PauseRequested.type: playback.isPlaying = false
        case Command.ResumeRequested.type: playback.isPlaying = true
        case Command.NextSongRequested.type:
            playback.track?.title = "Snow"
            playback.position = 0
        case Command.VolumeRequested.type:
            playback.device?.volume = try message.decode(Command.VolumeRequested.self).percent
        case Command.SeekRequested.type: playback.position = try message.decode(Command.SeekRequested.self).position
        default: return false
        }
        return true
    }

    private func answers(to type: MessageType) -> [any PublishableMessage] {
        switch type {
        case Command.SpotifyAuthorizationRequested.type:
            [
                DomainEvent.SpotifyAuthURLGenerated(url: "https://accounts.example/authorize"),
                DomainEvent.SpotifyAuthorizationUpdated(status: .authorized), Document.Playlists.two,
            ]
        case Command.PlayOnSpotifyRequested.type:
            [Document.Devices.kitchen, DomainEvent.SpotifyDeviceActivationRequired()]
        default: []
        }
    }
}
