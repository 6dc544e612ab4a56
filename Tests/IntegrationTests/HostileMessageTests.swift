import BusFormat
import BusProtocol
import BusStranger
import Contracts
import EventBus
import Foundation
import SegueTestSupport
import Testing
import Vocabulary

@Suite("Messages whose results the bus refuses")
struct HostileMessageTests {
    /// A message with a very long device name. A client of this version refuses to publish it, but another client may
    /// publish it.
    private func launch() -> PublishedMessage {
        let type = DomainEvent.LaunchFinished.type
        let device = String(repeating: "d", count: 65_290)
        let header =
            #"{"device":"\#(device)","id":"hostile-1","platform":"ios","source":"s","specversion":"1.0","#
            + #""subject":"default","type":"\#(type)"}"#
        return PublishedMessage(
            topic: Topic(type, subject: Session.default).name, subject: Session.default, key: "",
            header: Array(header.utf8)[...], data: Array("{}".utf8)[...])
    }

    @Test(
        "Refused results end no process, now or after a restart, and do not delay other messages",
        .timeLimit(.minutes(5)))
    func hostile() async throws {
        try await Story.tell { story in
            let launch = launch()
            let reply = try await Stranger.withConnection(to: "\(try story.processes.busAddress)/ingress") {
                try $0.publish([launch])
            }
            guard case .published = reply else { throw BusError(.refused, "\(reply)") }
            // The results repeat the playlist's id, and so are larger than a message may be.
            let playlistID = String(repeating: "p", count: 4 * 1024 * 1024 - 100)
            let command = try await story.bus.send(Command.PlaylistSelected(playlistID: playlistID), lifetime: nil)
            let services = ["ios-coordinator", "auth-service", "music-service", "error-notifier"]
            for isRestarted in [false, true] {
                if isRestarted { for service in services { try await story.processes.killAndRestart(service) } }
                // The coordinator requests to open the URL in the service's answer.
                let request = try await story.bus.send(
                    Command.SpotifyAuthorizationRequested(), origin: Origin(platform: "ios"))
                _ = try await story.stack.message(DomainEvent.URLOpenRequested.self, after: request)
            }
            try await story.logIn()
            let songs = try await story.select("EndlessFocus")
            #expect(songs.count == 120)
            let deadLetters = try await story.bus.inspect.deadLetters(of: nil)
            #expect(deadLetters.allSatisfy { ["hostile-1", command.id].contains($0.message.id) }, "\(deadLetters)")
        }
    }
}
