import Contracts
import EventBus
import FlowFiles
import Foundation
import InProcess
import Logging
import Navigation
import SegueTestSupport
import ServiceRuntime
import Support
import TestSupport
import Testing
import Vocabulary

/// The focus player with a simulated Spotify, and the steps of the user of one session.
struct Story {
    /// The ways to run the app.
    enum Shape: CaseIterable {
        /// The default stack: a process for each service.
        case processes
        /// One process: that of the test.
        case oneProcess
        /// A process for each service, on a server of NATS.
        case nats
        /// A process for each service, on three servers of NATS that each store all messages.
        case cluster

        /// The shapes without a cluster, for the tests that it would make too slow.
        static let single: [Shape] = [.processes, .oneProcess, .nats]
    }

    /// The engine of three servers.
    private static let cluster = TestEngine.nats(server: Repository.path(".build/nats-server"), count: 3)

    let stack: any ObservedBus
    let browser: Browser
    let simulator: String
    private(set) var session = Session.default

    static let services = [
        "broker", "ios-coordinator", "mac-coordinator", "error-notifier", "auth-service", "music-service",
        "spotify-simulator", "web",
    ]

    /// Runs a stack of the app, by default the default stack, while `body` runs.
    /// - Parameters:
    ///   - file: A compose file of the repository.
    ///   - services: Processes to run beside those of the file.
    static func tell<Result: Sendable>(
        file: String = "compose/default.yaml", beside services: [TestService] = [], engine: TestEngine = .broker,
        _ body: @escaping @Sendable (Story) async throws -> Result
    ) async throws -> Result {
        try await tell(path: Repository.path(file), beside: services, engine: engine, body)
    }

    /// Runs the stack of a compose file while `body` runs.
    static func tell<Result: Sendable>(
        path: String, beside services: [TestService] = [], engine: TestEngine = .broker,
        _ body: @escaping @Sendable (Story) async throws -> Result
    ) async throws -> Result {
        try await TestStack.with(file: path, beside: services, engine: engine) { stack in
            let simulator = "http://127.0.0.1:\(try stack.port("spotify"))"
            return try await Browser.open { try await body(Story(stack: stack, browser: $0, simulator: simulator)) }
        }
    }

    /// Runs the app in a shape while `body` runs.
    static func tell(in shape: Shape, _ body: @escaping @Sendable (Story) async throws -> Void) async throws {
        switch shape {
        case .processes: try await tell(body)
        case .nats: try await tell(file: "compose/nats.yaml", body)
        case .cluster: try await tell(engine: cluster, body)
        case .oneProcess:
            let scratch = try ScratchFolder()
            defer { scratch.remove() }
            try await tell(keeping: scratch.path, body)
        }
    }

    /// Runs the app in this process while `body` runs. The app keeps its state in a folder.
    static func tell(
        keeping folder: String, _ body: @escaping @Sendable (Story) async throws -> Void
    ) async throws {
        let flows = try ["ios", "mac"].map { platform in
            let file = Repository.path("config/flows/\(platform).yaml")
            let source = try String(contentsOfFile: file, encoding: .utf8)
            return (flow: try Flow(yaml: source, file: file), source: source)
        }
        let app = InProcessApp(
            flows: flows, catalogue: Repository.path("config/simulator/catalogue.yaml"), stateFolder: folder)
        let silent: @Sendable (String) -> Logger = { _ in .silent }
        try await app.run(configuration: ServiceConfiguration(environment: [:]), logger: silent) { simulator in
            [
                ServiceProgram(ServiceProcess("test")) { process in
                    [StoryTeller(observer: BusObserver(process.bus), simulator: simulator, body: body)]
                }
            ]
        }
    }

    /// The processes of the app, if each service has one.
    var processes: TestStack { get throws { try #require(stack as? TestStack) } }

    var bus: EventBus { stack.bus }

    /// The user of another session on the same stack.
    func of(_ session: String) -> Story {
        var story = self
        story.session = session
        return story
    }

    func launch() async throws {
        // Only the session `default` has a state before its launch.
        if session == Session.default { try await stack.screen("launch", on: "ios") }
        try await bus.publish(DomainEvent.LaunchFinished(), subject: session)
        try await bothAreAt("serviceSelection")
    }

    func bothAreAt(_ screen: String) async throws {
        for platform in ["ios", "mac"] {
            try await stack.screen(screen, on: platform, subject: session)
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
        try await stack.screen("generatedPlaylist", on: "ios", subject: session)
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
        try await browser.control(path, form, of: simulator)
    }
}

/// Tells a story to the app in whose process it runs. The app ends with the story.
private struct StoryTeller: ForegroundService {
    let observer: BusObserver
    let simulator: String
    let body: @Sendable (Story) async throws -> Void

    func run() async throws {
        try await Browser.open { browser in
            try await observer.whileRecording {
                try await body(Story(stack: observer, browser: browser, simulator: simulator))
            }
        }
    }
}
