import Contracts
import EventBus
import Navigation
import SegueTestSupport
import Testing
import Vocabulary

/// Forty sessions in different partitions, which the coordinators of one platform share.
struct SharedSessions {
    private let stack: TestStack
    private let platform: String
    private let sessions: [String]

    init(stack: TestStack, platform: String) {
        self.stack = stack
        self.platform = platform
        var partitions: Set<Partition> = []
        let names = (1...200).map { "user-\($0)" }
        sessions = Array(names.filter { partitions.insert(Partition(subject: $0)).inserted }.prefix(40))
    }

    /// Launches all sessions.
    func launch() async throws {
        for session in sessions { try await stack.bus.publish(DomainEvent.LaunchFinished(), subject: session) }
        for session in sessions { try await stack.screen("serviceSelection", on: platform, subject: session) }
    }

    /// Sends a command to each session, and waits until all are answered.
    /// - Returns: The sources of the answers.
    @discardableResult
    func sendCommandToEach() async throws -> Set<String> {
        var sent: Set<String> = []
        for session in sessions {
            let command = Command.OpenAnotherAppRequested(url: "https://open.spotify.com")
            sent.insert(try await stack.bus.send(command, subject: session, origin: Origin(platform: platform)).id)
        }
        try await stack.until("the commands are answered") { [sent] in
            sent.isSubset(of: $0.openings.compactMap(\.attributes.causationID))
        }
        let answers = stack.messages.openings.filter { sent.contains($0.attributes.causationID ?? "") }
        return Set(answers.map(\.attributes.source))
    }

    /// Sends commands until each of `count` coordinators has answered some of those that were sent together. The
    /// partitions of a coordinator that joins move when the others renew their claims.
    func waitUntilShared(by count: Int, deadline: Duration = .seconds(60)) async throws {
        let end = ContinuousClock.now + deadline
        while true {
            let coordinators = try await sendCommandToEach()
            if coordinators.count >= count { return }
            try #require(ContinuousClock.now < end, "only \(coordinators.sorted()) have answered after \(deadline)")
        }
    }

    /// Kills a coordinator while commands are sent, and waits for the answers to these and to later ones.
    func sendCommands(whileKilling coordinator: String) async throws {
        async let killed: Void = stack.killAndRestart(coordinator)
        try await sendCommandToEach()
        try await killed
        try await sendCommandToEach()
    }

    /// Checks that each command has one answer, and that each version of a state was published once.
    func expectOneAnswerPerCommand() throws {
        let sent = stack.messages.filter { $0.type == Command.OpenAnotherAppRequested.type }
        let answered = stack.messages.openings.filter { sessions.contains($0.subject) }
            .compactMap(\.attributes.causationID)
        #expect(answered.sorted() == sent.map(\.id).sorted())
        for session in sessions {
            let revisions = try stack.messages.filter {
                $0.type == Document.NavigationState.type && $0.subject == session && $0.attributes.key == platform
            }.map { try $0.decode(Document.NavigationState.self).snapshot.revision }
            let first = try #require(revisions.first, "\(session) has no state")
            #expect(revisions == Array(first..<first + revisions.count))
        }
    }
}

extension [Envelope] {
    fileprivate var openings: [Envelope] { filter { $0.type == DomainEvent.URLOpenRequested.type } }
}
