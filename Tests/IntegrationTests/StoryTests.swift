import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Monitor
import Navigation
import SegueTestSupport
import Testing
import Vocabulary

@Suite("Focus player with real processes and in one process")
struct StoryTests {
    @Test(
        "The story leads from launch and consent to playlists, music, other apps and the log-out",
        .timeLimit(.minutes(5)),
        arguments: Story.Shape.allCases)
    func story(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            try await story.launch()
            try await story.stack.message(DomainEvent.SpotifyAuthorizationUpdated.self) { $0.status == .unauthorized }

            try await story.logIn()
            let playlists = try await story.stack.document(Document.Playlists.self) { !$0.playlists.isEmpty }.playlists
            #expect(playlists.count > 20, "more than one page of Spotify's")

            let songs = try await story.select("EndlessFocus")
            #expect(songs.count == 120, "more than one page of Spotify's")
            #expect(Set(songs.map(\.uri)).count == songs.count)

            let play = try await story.bus.send(Command.PlayOnSpotifyRequested())
            try await story.stack.message(DomainEvent.PlaybackStarted.self, after: play)

            let open = try await story.bus.send(Command.OpenAnotherAppRequested(url: "https://example.org/app"))
            try await story.stack.message(DomainEvent.URLOpenRequested.self, after: open) {
                $0.url == "https://example.org/app"
            }
            let show = try await story.bus.send(
                Command.DidRequestOpenPlaylistOnSpotify(), origin: Origin(platform: "ios"))
            try await story.stack.message(DomainEvent.URLOpenRequested.self, after: show) {
                $0.url == "https://open.spotify.com/playlist/EndlessFocus"
            }

            try await story.bus.send(Command.SpotifyDeauthorizationRequested())
            try await story.bothAreAt("serviceSelection")
            try await story.stack.message(DomainEvent.SpotifyAuthorizationUpdated.self, after: show) {
                $0.status == .deauthorized
            }
            // Each story is a trace, and each of its messages is a span of the trace. The messages are read only once,
            // because more messages may arrive.
            let messages = story.stack.messages
            let traces = messages.map { $0.attributes.traceparent.flatMap(TraceContext.init(parsing:)) }
            #expect(Set(traces).count == messages.count)
            let stories = Dictionary(grouping: messages, by: \.attributes.correlationID)
            for (id, messages) in stories {
                let ids = Set(messages.map { $0.attributes.traceparent?.prefix(35) ?? "" })
                #expect(ids.count == 1, "\(id): \(messages.map { "\($0.type) \($0.attributes.traceparent ?? "-")" })")
            }
            #expect(stories.contains { $0.value.count > 5 })
        }
    }

    @Test(
        "A deep link before the log-in is followed after it", .timeLimit(.minutes(5)), arguments: Story.Shape.single)
    func deepLink(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            try await story.launch()
            try await story.bus.publish(
                DomainEvent.DeepLinkReceived(url: "FOCUS://playlist/EndlessFocus"), origin: Origin(platform: "ios"))
            try await story.stack.document(Document.NavigationState.self, key: "ios") {
                $0.snapshot.state.parked != nil
            }
            if shape == .processes { try await story.processes.killAndRestart("ios-coordinator") }
            try await story.browser.decide("approve", at: try await story.requestAuthorization())
            let snapshot = try await story.stack.document(Document.NavigationState.self, key: "ios") {
                $0.snapshot.url == "focus://playlist/EndlessFocus"
            }.snapshot
            #expect(snapshot.state.open.map(\.screen) == ["playlistSelection", "generatedPlaylist"])
            // The songs are loaded as after a choice by a person, so the other platform shows the playlist too.
            try await story.stack.document(Document.GeneratedPlaylist.self) {
                $0.playlistID == "EndlessFocus" && $0.status == .ready
            }
            try await story.isInDetail("EndlessFocus")
        }
    }

    @Test("The processes that have tokens leave no core dump", .timeLimit(.minutes(5)))
    func coreDumps() async throws {
        try await Story.tell(in: .processes) { story in
            for service in ["auth-service", "music-service"] {
                let pid = try story.processes.processID(of: service)
                let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
                #expect(limits.contains(#/Max core file size +1 +1 /#), "\(service): \(limits)")
            }
        }
    }

    @Test(
        "A consent that is denied, or whose state is forged, leaves no token", .timeLimit(.minutes(5)),
        arguments: Story.Shape.single)
    func denied(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            try await story.launch()
            let url = try await story.requestAuthorization()
            let forged = url.replacing(#/state=[^&]*/#, with: "state=forged")
            try await story.browser.decide("approve", at: forged)
            try await story.browser.decide("deny", at: url)
            // The forged answer came first, and published nothing.
            let error = try await story.stack.message(ApplicationError.self)
            #expect(try error.envelope.decode(ApplicationError.self).code == "spotify.access-denied")
            try await story.bothAreAt("serviceSelection")
            #expect(
                !story.stack.messages.contains { message in
                    (try? message.decode(DomainEvent.SpotifyAuthorizationUpdated.self))?.status == .authorized
                })
            try await story.logIn()
        }
    }

    @Test(
        "An unknown playlist fails with an error, and the next one is opened", .timeLimit(.minutes(5)),
        arguments: Story.Shape.single)
    func unknownPlaylist(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            try await story.launch()
            try await story.logIn()
            let command = try await story.bus.send(Command.PlaylistSelected(playlistID: "nowhere"))
            try await story.stack.document(Document.GeneratedPlaylist.self) { $0.status == .failed }
            let error = try await story.stack.message(ApplicationError.self, after: command)
            try await story.stack.document(Document.ErrorBanner.self) { $0.errorID == error.envelope.id }
            try await story.select("EndlessFocus")
        }
    }

    @Test(
        "The songs of a playlist can be queried on the command line", .timeLimit(.minutes(5)),
        arguments: [Story.Shape.processes, .nats])
    func ask(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            try await story.launch()
            try await story.logIn()
            let songs = try await story.select("EndlessFocus")
            let bus = try story.processes.busAddress
            try await SegueCommandLine.inScratch { segue in
                let answer = try await segue(
                    "ask", "PlaylistSongs", #"{"playlistID": "EndlessFocus"}"#, "--json", "--bus", bus)
                let answered = try JSONDecoder().decode(Query.PlaylistSongs.Answer.self, from: Data(answer.output.utf8))
                #expect(Set(answered.songs) == Set(songs) && answered.songs.count == songs.count)
                let unknown = try await segue("ask", "PlaylistSongs", #"{"playlistID": "nowhere"}"#, "--bus", bus)
                #expect(unknown.status == 1)
                #expect(unknown.error.contains("The songs of this playlist are not known"))
                #expect(unknown.errorLines.count == 1)
            }
        }
    }

    @Test(
        "Each service runs the durable consumers that its presence and its contract name, and no others",
        .timeLimit(.minutes(5)))
    func consumers() async throws {
        try await Story.tell { story in
            var declared: Set<String> = []
            for service in ["auth-service", "music-service", "error-notifier", "navigation-coordinator"] {
                let documents = try await story.bus.documents(matching: [.type(Document.Presence.self)])
                let presences = try documents.map { try $0.decode(Document.Presence.self) }
                for presence in presences where presence.name == service {
                    let contract = try await story.bus.document(Document.ServiceContract.self, key: presence.instance)
                    #expect(presence.consumers == contract?.consumers)
                    declared.formUnion(presence.consumers ?? [service])
                }
            }
            #expect(try await Set(story.bus.inspect.consumers().map(\.name)) == declared)
        }
    }

    @Test(
        "A message that a service cannot read becomes a dead letter, and can be resent or dropped",
        .timeLimit(.minutes(5)),
        arguments: [Story.Shape.processes, .nats])
    func deadLetter(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            let bus = try story.processes.busAddress
            try await SegueCommandLine.inScratch { segue in
                // Without --no-check, `segue send` refuses the message.
                let malformed = #"{"playlist": 1}"#
                #expect(try await segue("send", "command.PlaylistSelected", malformed, "--bus", bus).status == 65)
                try await segue("send", "command.PlaylistSelected", malformed, "--no-check", "--bus", bus)
                let error = try await story.stack.message(ApplicationError.self) { $0.code == "message.malformed" }
                let deadLetters = try await segue("dead", "list", "--consumer", "music-service", "--bus", bus)
                let deadLetter = try #require(deadLetters.lines.last?.split(separator: " ").first.map(String.init))
                #expect(deadLetters.lines.count == 2, "\(deadLetters.output)")
                // The message is still malformed, and is sent only to the consumer that had given it up.
                try await segue("dead", "resend", deadLetter, "--bus", bus)
                try await story.stack.message(ApplicationError.self, after: error.envelope) {
                    $0.code == "message.malformed"
                }
                let again = try await segue("dead", "list", "--bus", bus)
                let next = try #require(again.lines.last?.split(separator: " ").first.map(String.init))
                #expect(again.lines.count == 2 && next != deadLetter, "\(again.output)")
                try await segue("dead", "drop", next, "--bus", bus)
                #expect(try await segue("dead", "list", "--bus", bus).output.isEmpty)
                let services = try await segue("services", "--json", "--bus", bus)
                #expect(services.output.contains(#""name":"music-service""#))
            }
            let instance = try await story.presence(of: "music-service").instance
            var metrics: DomainEvent.MetricsReported?
            repeat {
                metrics = try await MetricsRequests.ask([instance], on: story.bus)[instance]
            } while metrics?.failed != 2 || metrics?.lag != 0
        }
    }

    @Test(
        "Without an active device, a sheet on the phone and a popover on the mac ask for one", .timeLimit(.minutes(5)),
        arguments: Story.Shape.single)
    func deviceActivation(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            try await story.launch()
            try await story.logIn()
            try await story.select("EndlessFocus")
            try await story.control("devices", "action=deactivate")
            try await story.bus.send(Command.PlayOnSpotifyRequested())
            let sheet = try #require(try await story.presented(on: "ios", "deviceActivation"))
            #expect(sheet.style == .sheet)
            #expect(sheet.options.detents == [.medium])
            #expect(sheet.options.dragIndicator == true)
            #expect(try await story.presented(on: "mac", "deviceActivation")?.style == .popover)

            // The sheet is swiped away on the phone only; the popover stays.
            try await story.bus.send(
                Command.PresentationDismissed(instance: sheet.instance.id), origin: Origin(platform: "ios"))
            _ = try await story.presented(on: "ios", nil)
            let devices = try await story.stack.document(Document.Devices.self) { !$0.devices.isEmpty }.devices
            let choice = try await story.bus.send(Command.DeviceSelected(deviceID: try #require(devices.first).id))
            try await story.stack.message(DomainEvent.PlaybackStarted.self, after: choice)
            _ = try await story.presented(on: "mac", nil)
        }
    }

    @Test(
        "The playing screen follows another client, on both platforms, until it is closed", .timeLimit(.minutes(5)),
        arguments: Story.Shape.single)
    func nowPlaying(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            try await story.launch()
            try await story.logIn()
            try await story.select("EndlessFocus")
            let play = try await story.bus.send(Command.PlayOnSpotifyRequested())
            try await story.stack.message(DomainEvent.PlaybackStarted.self, after: play)
            try await story.bus.send(Command.NowPlayingRequested())
            let sheet = try #require(try await story.presented(on: "ios", "nowPlaying"))
            #expect(sheet.style == .sheet)
            let popover = try #require(try await story.presented(on: "mac", "nowPlaying"))
            #expect(popover.style == .popover)
            try await story.stack.document(Document.NowPlaying.self) { $0.playback?.isPlaying == true }

            try await story.control("player", "action=pause")
            try await story.stack.document(Document.NowPlaying.self) { $0.playback?.isPlaying == false }
            let resume = try await story.bus.send(Command.ResumeRequested())
            try await story.stack.message(DomainEvent.PlaybackChanged.self, after: resume)
            try await story.stack.document(Document.NowPlaying.self) { $0.playback?.isPlaying == true }

            try await story.bus.send(
                Command.PresentationDismissed(instance: sheet.instance.id), origin: Origin(platform: "ios"))
            _ = try await story.presented(on: "ios", nil)
            try await story.bus.send(
                Command.PresentationDismissed(instance: popover.instance.id), origin: Origin(platform: "mac"))
            try await story.stack.document(Document.NowPlaying.self) { $0.status == .ended }
        }
    }

    @Test("Without Premium, an alert offers to open Spotify", .timeLimit(.minutes(5)), arguments: Story.Shape.single)
    func premium(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            try await story.launch()
            try await story.logIn()
            try await story.select("EndlessFocus")
            try await story.control("premium", "premium=off")
            try await story.bus.send(Command.PlayOnSpotifyRequested())
            let alert = try #require(try await story.presented(on: "ios", "premiumRequired"))
            let answer = try await story.bus.send(
                Command.AlertAnswered(instance: alert.instance.id, button: "open"), origin: Origin(platform: "ios"))
            try await story.stack.message(DomainEvent.URLOpenRequested.self, after: answer) {
                $0.url.hasPrefix("https://open.spotify.com/playlist/")
            }
            _ = try await story.presented(on: "ios", nil)
        }
    }

    @Test(
        "A token that Spotify rejects is renewed once, and a refused renewal leads to the log-in",
        .timeLimit(.minutes(5)),
        arguments: Story.Shape.single)
    func revoked(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            try await story.launch()
            try await story.logIn()
            try await story.control("revoke", "tokens=access")
            try await story.select("EndlessFocus")
            let renewals = story.stack.messages.filter { $0.type == Command.SpotifyTokenRefreshRequested.type }
            #expect(!renewals.isEmpty)

            try await story.control("revoke", "tokens=all")
            let play = try await story.bus.send(Command.PlayOnSpotifyRequested())
            try await story.stack.message(DomainEvent.SpotifyAuthorizationUpdated.self, after: play) {
                $0.status == .deauthorized
            }
            try await story.bothAreAt("serviceSelection")
            try await story.stack.document(Document.ErrorBanner.self) { $0.error != nil }
        }
    }

    @Test(
        "The story continues although any process is killed in the middle", .timeLimit(.minutes(5)),
        arguments: Story.services)
    func kill(service: String) async throws {
        try await Story.tell { try await Self.goOn($0, afterKilling: [service, service]) }
    }

    @Test("The story continues although any of three servers is killed in the middle", .timeLimit(.minutes(5)))
    func killServers() async throws {
        try await Story.tell(in: .cluster) { try await Self.goOn($0, afterKilling: ["nats-1", "nats-2", "nats-3"]) }
    }

    /// Tells the story. Kills the first service during the consent, and the others one after another before playback
    /// starts.
    private static func goOn(_ story: Story, afterKilling services: [String]) async throws {
        try await story.launch()
        let url = try await story.requestAuthorization()
        try await story.processes.killAndRestart(services[0])
        try await story.browser.decide("approve", at: url)
        try await story.bothAreAt("playlistSelection")
        try await story.stack.document(Document.Playlists.self) { !$0.playlists.isEmpty }
        try await story.select("EndlessFocus")
        for service in services.dropFirst() { try await story.processes.killAndRestart(service) }
        let play = try await story.bus.send(Command.PlayOnSpotifyRequested())
        try await story.stack.message(DomainEvent.PlaybackStarted.self, after: play)
        try await story.bus.send(Command.SpotifyDeauthorizationRequested())
        try await story.bothAreAt("serviceSelection")
    }
}
