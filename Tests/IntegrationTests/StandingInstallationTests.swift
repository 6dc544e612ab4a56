import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import GRDB
import Navigation
import SegueTestSupport
import Support
import TestSupport
import Testing
import Vocabulary

@Suite("Upgrade of an installation with one owner of all sessions")
struct StandingInstallationTests {
    /// The last offset of the journal in the fixture, and the offset up to which its coordinators have handled all.
    fileprivate static let (end, handled): (UInt64, UInt64) = (89, 74)

    private static let coordinators = ["navigation-coordinator.ios", "navigation-coordinator.mac"]

    private static func journal(_ directory: String) throws -> String {
        let path = "\(directory)/journal.sqlite"
        let sql = try String(contentsOfFile: Repository.path("Tests/Fixtures/Journals/one-owner.sql"), encoding: .utf8)
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
        try database.close()
        return path
    }

    private static func services(_ journal: String) -> [TestService] {
        let platforms = ["ios", "mac"].map { platform in
            let flow = Repository.path("config/flows/\(platform).yaml")
            return TestService(
                "\(platform)-coordinator", command: ["navigation-coordinator", "--flow", flow], after: ["broker"])
        }
        let broker = TestService("broker", command: ["broker", "--journal", journal])
        return [broker] + platforms + [TestService("error-notifier", after: ["broker"])]
    }

    @Test(
        "The upgraded installation loses nothing, handles nothing twice, and then shares its sessions",
        .timeLimit(.minutes(4)))
    func continued() async throws {
        try await SegueCommandLine.inScratch { segue in
            try await TestStack.with(Self.services(Self.journal(segue.directory))) { stack in
                try await stack.waitingIsHandled(
                    in: Session.default, showing: "NordicCalm", revisions: 5...9,
                    leaving: ["generatedPlaylist-4", "generatedPlaylist-5", "launch-1", "serviceSelection-2"],
                    newly: "generatedPlaylist-5")
                try await stack.waitingIsHandled(
                    in: "anna", showing: "StringQuartets", revisions: 3...5,
                    leaving: ["generatedPlaylist-3", "launch-1"], newly: "generatedPlaylist-3")
                try await stack.document(Document.ErrorBanner.self, subject: "anna") {
                    $0.error?.code == "test.failed"
                }
                let banners = try stack.new(Document.ErrorBanner.self).filter { $0.message.error != nil }
                #expect(banners.count == 1)
                let members = try await stack.bus.inspect.consumers().filter { $0.memberCount > 0 }
                #expect(members.map(\.name).sorted() == ["error-notifier"] + Self.coordinators)
                #expect(members.allSatisfy { $0.memberCount == 1 && $0.position.offset >= Self.handled })

                try await stack.scale("ios-coordinator", to: 2)
                let counts = try await stack.bus.inspect.consumers().filter { Self.coordinators.contains($0.name) }
                #expect(counts.map(\.memberCount) == [2, 1])
                let sessions = SharedSessions(stack: stack, platform: "ios")
                try await sessions.launch()
                try await sessions.waitUntilShared(by: 2)
                try await sessions.sendCommands(whileKilling: "ios-coordinator")
                try sessions.expectOneAnswerPerCommand()
                for (session, last) in [(Session.default, 10), ("anna", 6)] {
                    try await stack.bus.send(Command.PlaylistSelected(playlistID: "Baroque"), subject: session)
                    let snapshot = try await stack.document(
                        Document.NavigationState.self, key: "ios", subject: session
                    ) { $0.snapshot.state.top.arguments["playlistID"] == .string("Baroque") }.snapshot
                    #expect(snapshot.revision == last, "the version after the last of the fixture's")
                }
                #expect(try await stack.bus.inspect.deadLetters(of: nil).isEmpty)
            }
        }
    }
}

extension TestStack {
    /// The messages of a type that were published after the fixture was made.
    fileprivate func new<M: Message>(
        _ type: M.Type, in session: String? = nil, on platform: String? = nil
    ) throws -> [(message: M, envelope: Envelope)] {
        try messages.filter {
            ($0.position?.offset ?? 0) > StandingInstallationTests.end && $0.type == M.type && !$0.isTombstone
                && (session == nil || $0.subject == session)
                && (platform == nil || $0.attributes.platform == platform)
        }.map { (try $0.decode(M.self), $0) }
    }

    /// Waits until the coordinators have handled the waiting message of a session and all screens have left. Checks
    /// that each version of the state was published once, beginning with the recorded one, and that each leaving screen
    /// was reported once.
    /// - Parameters:
    ///   - leaving: The instances that leave. All but one were leaving when the fixture was made.
    ///   - newly: The instance that the waiting command makes leave.
    fileprivate func waitingIsHandled(
        in session: String, showing playlistID: String, revisions: ClosedRange<Int>, leaving: [String], newly: String
    ) async throws {
        for platform in ["ios", "mac"] {
            let state = try await document(Document.NavigationState.self, key: platform, subject: session) {
                $0.snapshot.state.leaving.isEmpty && $0.snapshot.revision >= revisions.upperBound
            }.snapshot.state
            let waiting = messages.first {
                $0.type == Command.PlaylistSelected.type && $0.subject == session
                    && ($0.position?.offset ?? 0) > StandingInstallationTests.handled
            }
            let shown = platform == "ios" ? state.top : state.root.container?.stacks.first?.top
            #expect(shown?.screen == "generatedPlaylist")
            #expect(shown?.arguments["playlistID"] == .string(playlistID))
            let versions = try new(Document.NavigationState.self, in: session, on: platform).map(\.message.snapshot)
            // The flow has changed since: the recorded state is published first, with the commands that it offers now.
            #expect(versions.map(\.revision) == [revisions.lowerBound - 1] + Array(revisions))
            let first = versions.dropFirst().first
            #expect(first?.cause == waiting?.id, "the waiting command is the first that is handled")
            let gone = try new(Command.ScreenGone.self, in: session, on: platform)
            #expect(gone.map(\.message.instance).sorted() == leaving)
            let deadlines = try new(Document.Deadline.self, in: session, on: platform)
            #expect(deadlines.map(\.message.id) == [newly], "the recorded deadlines are continued")
        }
    }
}
