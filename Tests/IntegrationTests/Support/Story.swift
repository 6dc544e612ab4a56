import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import Support
import Testing
import Vocabulary

/// The focus player's default stack, and the steps of the user of one session.
struct Story {
    let stack: TestStack
    let browser: Browser
    private(set) var session = Session.default

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

    /// The user of another session on the same stack.
    func of(_ session: String) -> Story {
        var story = self
        story.session = session
        return story
    }

    func launch() async throws {
        // Only the session `default` has a state before its launch.
        if session == Session.default { try await stack.isAt("launch", on: "ios") }
        try await bus.publish(DomainEvent.LaunchFinished(), subject: session)
        try await bothAreAt("serviceSelection")
    }

    func bothAreAt(_ screen: String) async throws {
        for platform in ["ios", "mac"] {
            try await stack.isAt(screen, on: platform, in: session)
        }
    }

    /// - Returns: The URL of the consent page.
    func requestAuthorization() async throws -> String {
        let request = try await bus.send(
            Command.SpotifyAuthorizationRequested(), subject: session, origin: Origin(platform: "ios"))
        return try await stack.message(DomainEvent.SpotifyAuthURLGenerated.self, after: request).message.url
    }

    /// - Parameter account: The id of the simulator's account. Nil for the account that the consent page has chosen.
    func logIn(as account: String? = nil) async throws {
        try await browser.decide("approve", as: account, at: try await requestAuthorization())
        try await bothAreAt("playlistSelection")
        try await stack.message(DomainEvent.PlaylistsLoaded.self, subject: session)
    }

    /// - Returns: The shuffled songs.
    @discardableResult
    func select(_ playlistID: String) async throws -> [Song] {
        let command = try await bus.send(Command.PlaylistSelected(playlistID: playlistID), subject: session)
        try await stack.message(DomainEvent.PlaylistShuffled.self, after: command, subject: session) {
            $0.playlistID == playlistID
        }
        try await stack.isAt("generatedPlaylist", on: "ios", in: session)
        try await isInDetail(playlistID)
        return try await stack.document(Document.GeneratedPlaylist.self, subject: session) {
            $0.playlistID == playlistID && $0.status == .ready
        }.songs
    }

    /// Waits until the Mac shows the list and, in the column beside it, this playlist.
    func isInDetail(_ playlistID: String) async throws {
        let state = try await stack.document(Document.NavigationState.self, key: "mac", subject: session) {
            $0.snapshot.state.root.container?.stacks.first?.top.arguments["playlistID"] == .string(playlistID)
        }.snapshot.state
        #expect(state.root.instance.screen == "playlistSelection")
    }

    func presence(of service: String) async throws -> Document.Presence {
        try await stack.message(Document.Presence.self) { $0.name == service }.message
    }

    func presented(on platform: String, _ screen: String?) async throws -> Presentation? {
        try await stack.document(Document.NavigationState.self, key: platform, subject: session) {
            $0.snapshot.state.presentations.last?.instance.screen == screen
        }.snapshot.state.presentations.last
    }

    func control(_ path: String, _ form: String) async throws {
        try await browser.control(path, form, port: stack.port("spotify"))
    }
}
