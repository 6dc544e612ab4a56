import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import Support
import Testing
import Vocabulary

/// The focus player's default stack, and the steps of a user.
struct Story {
    let stack: TestStack
    let browser: Browser

    static let services = [
        "broker", "ios-coordinator", "mac-coordinator", "error-notifier", "auth-service", "music-service",
        "spotify-simulator", "web",
    ]

    static func tell<Result: Sendable>(
        _ body: @escaping @Sendable (Story) async throws -> Result
    ) async throws -> Result {
        try await TestStack.with(file: Repository.path("compose/default.yaml")) { stack in
            try await Browser.open { try await body(Story(stack: stack, browser: $0)) }
        }
    }

    var bus: any EventBus { stack.bus }

    func launch() async throws {
        try await stack.isAt("launch", on: "ios")
        try await bus.publish(DomainEvent.LaunchFinished())
        try await bothAreAt("serviceSelection")
    }

    func bothAreAt(_ screen: String) async throws {
        for platform in ["ios", "mac"] {
            try await stack.isAt(screen, on: platform)
        }
    }

    /// - Returns: The URL of the consent page.
    func requestAuthorization() async throws -> String {
        let request = try await bus.send(Command.SpotifyAuthorizationRequested(), origin: Origin(platform: "ios"))
        return try await stack.message(DomainEvent.SpotifyAuthURLGenerated.self, after: request).message.url
    }

    func logIn() async throws {
        try await browser.decide("approve", at: try await requestAuthorization())
        try await bothAreAt("playlistSelection")
        try await stack.message(DomainEvent.PlaylistsLoaded.self)
    }

    /// - Returns: The shuffled songs.
    @discardableResult
    func select(_ playlistID: String) async throws -> [Song] {
        let command = try await bus.send(Command.PlaylistSelected(playlistID: playlistID))
        try await stack.message(DomainEvent.PlaylistShuffled.self, after: command) { $0.playlistID == playlistID }
        try await stack.isAt("generatedPlaylist", on: "ios")
        try await isInDetail(playlistID)
        return try await stack.document(Document.GeneratedPlaylist.self) {
            $0.playlistID == playlistID && $0.status == .ready
        }.songs
    }

    /// Waits until the Mac shows the list and, in the column beside it, this playlist.
    func isInDetail(_ playlistID: String) async throws {
        let state = try await stack.document(Document.NavigationState.self, key: "mac") {
            $0.snapshot.state.root.container?.stacks.first?.top.arguments["playlistID"] == .string(playlistID)
        }.snapshot.state
        #expect(state.root.instance.screen == "playlistSelection")
    }

    func presence(of service: String) async throws -> Document.Presence {
        try await stack.message(Document.Presence.self) { $0.name == service }.message
    }

    func presented(on platform: String, _ screen: String?) async throws -> Presentation? {
        try await stack.document(Document.NavigationState.self, key: platform) {
            $0.snapshot.state.presentations.last?.instance.screen == screen
        }.snapshot.state.presentations.last
    }

    func control(_ path: String, _ form: String) async throws {
        try await browser.control(path, form, port: stack.port("spotify"))
    }
}
