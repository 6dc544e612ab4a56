import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Logging
import TestSupport

@testable import Broker

/// A broker engine with its own journal, one producer and a clock that the test moves.
final class Fixture {
    let path: String
    let producer = ProducerID()
    let configuration: BrokerConfiguration
    var now = ContinuousClock.now
    var engine: BrokerEngine
    private var clock: BrokerClock
    private(set) var lastFeed: [FeedMessage] = []
    var journal: Journal { engine.journal }
    /// The time of the broker's clock, in milliseconds since 1970.
    var time: Int64 { clock.time(at: now) }

    static func run(
        _ configure: (inout BrokerConfiguration) -> Void = { _ in }, _ body: (Fixture) throws -> Void
    ) throws {
        try inDirectory { directory in
            let path = "\(directory)/journal.sqlite"
            var configuration = BrokerConfiguration(address: "ipc://\(directory)", journal: path)
            configure(&configuration)
            try body(Fixture(configuration))
        }
    }

    static func inDirectory(_ body: (String) throws -> Void) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        try body(scratch.path)
    }

    private init(_ configuration: BrokerConfiguration) throws {
        self.configuration = configuration
        path = configuration.journal
        clock = Self.clock(at: now)
        engine = try Self.engine(configuration, clock, now: now)
    }

    /// - Parameter shift: The change of the wall clock since the fixture was created.
    func restart(wallShift shift: Duration = .zero) throws {
        clock = Self.clock(at: now, wallShift: shift)
        engine = try Self.engine(configuration, clock, now: now)
    }

    private static func clock(at now: ContinuousClock.Instant, wallShift: Duration = .zero) -> BrokerClock {
        BrokerClock(start: now, wall: Date().timeIntervalSince1970 * 1000 + wallShift / .milliseconds(1))
    }

    private static func engine(
        _ configuration: BrokerConfiguration, _ clock: BrokerClock, now: ContinuousClock.Instant
    ) throws -> BrokerEngine {
        try BrokerEngine(
            journal: Journal(path: configuration.journal, limits: configuration.userLimits),
            configuration: configuration,
            logger: .silent, clock: clock, now: now)
    }

    /// Removes the record of the journal's end, so that only marks show a loss.
    func forgetEnd() throws {
        try FileManager.default.removeItem(atPath: "\(path).end")
    }

    func handle(_ incoming: [Incoming]) -> Outgoing {
        let outgoing = engine.handle(incoming, now: now)
        lastFeed = outgoing.feed
        return outgoing
    }

    func ask(_ request: Request) -> Reply {
        reply(handle([Incoming(peer: [1], frames: request.frames(id: 1))]))
    }

    func reply(_ outgoing: Outgoing) -> Reply {
        do {
            return try Reply.read(outgoing.frames.first?.frames ?? []).reply
        } catch {
            return .refused(error)
        }
    }

    /// Moves the clock and lets the broker do its work of each second.
    @discardableResult
    func tick(after duration: Duration = .zero) throws -> [FeedMessage] {
        let end = now.advanced(by: duration)
        lastFeed = []
        repeat {
            now = min(now.advanced(by: .seconds(1)), end)
            lastFeed += try engine.tick(now: now).feed
        } while now < end
        return lastFeed
    }

    func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
        try DatabaseQueue(path: path).write { try $0.execute(sql: sql, arguments: arguments) }
    }

    /// A copy of the journal in memory.
    func copy() throws -> DatabaseQueue {
        let copy = try DatabaseQueue()
        try DatabaseQueue(path: path).backup(to: copy)
        return copy
    }

    /// Replaces the journal by a copy.
    func putBack(_ copy: DatabaseQueue) throws {
        try copy.backup(to: DatabaseQueue(path: path))
    }

    static func message(
        _ name: String, kind: MessageKind = .event, subject: String = "default", key: String = "", size: Int = 1
    ) -> PublishedMessage {
        let topic = Topic(MessageType(kind: kind, name: name), subject: subject)
        return PublishedMessage(
            topic: topic.name, subject: subject, key: key, header: [1],
            data: Array(repeating: 2, count: size)[...])
    }

    func publish(
        sequence: UInt64, _ names: [String], kind: MessageKind = .event, isLeased: Bool = false,
        checkpoint: CheckpointFrame? = nil, rejection: RejectionFrame? = nil, settling deadLetters: [Int64] = []
    ) -> Reply {
        ask(
            .publish(
                PublishRequest(
                    producer: producer, sequence: sequence, isLeased: isLeased, checkpoint: checkpoint,
                    rejection: rejection, resolvedDeadLetters: deadLetters,
                    messages: names.map { Self.message($0, kind: kind) })))
    }

    func published(_ offset: UInt64) -> Reply { .published(epoch: journal.epoch, offset: offset) }

    func checkpoint(
        _ consumer: String, owner: UInt64, offset: UInt64, settled: UInt64? = nil, partition: Partition? = nil,
        previous: UInt64? = nil
    ) -> CheckpointFrame {
        CheckpointFrame(
            consumer: consumer, ownerGeneration: owner, epoch: journal.epoch, offset: offset,
            settled: settled ?? offset, partition: partition, previous: previous)
    }

    /// - Returns: Nil if the claim was refused.
    func claim(
        _ consumer: String, as member: ConsumerMember = .exclusive, by producer: ProducerID = ProducerID(),
        isRenewal: Bool = false, isLeaving: Bool = false
    ) -> Claimed? {
        let request = ClaimRequest(
            producer: producer, member: member, consumer: consumer,
            purpose: isLeaving ? .leave : isRenewal ? .renewal : .claim)
        guard case .claimed(let claimed) = ask(.claim(request)) else { return nil }
        return claimed
    }

    func read(_ filter: String = "event.", after: UInt64 = 0) -> Page? {
        guard case .page(let page) = ask(.read(PageRequest(epoch: 0, after: after, prefixes: [filter]))) else {
            return nil
        }
        return page
    }

    func document(_ name: String, subject: String = "default", key: String = "") throws -> Page? {
        let type = MessageType(kind: .document, name: name)
        let request = try DocumentRequest(type: type, subject: subject, key: key)
        guard case .page(let page) = ask(.document(request)) else { return nil }
        return page
    }

    /// - Returns: Nil if the request was refused.
    func consumers() -> [ConsumerList.Entry]? {
        guard case .consumers(let list) = ask(.consumers) else { return nil }
        return list.consumers
    }

    func documents() -> [FeedMessage] {
        guard case .page(let page) = ask(.documents(PageRequest(epoch: 0, after: 0, prefixes: ["document."]))) else {
            return []
        }
        return page.messages
    }

    /// - Returns: Nil if the request was refused.
    func documents(_ name: String, subject: String = "default", after: UInt64) throws -> Page? {
        let type = MessageType(kind: .document, name: name)
        let request = try SubjectRequest(after: after, type: type, subject: subject)
        guard case .page(let page) = ask(.documentsOfSubject(request)) else { return nil }
        return page
    }

    func deadLetters(of consumer: String = "", after: Int64 = 0) -> DeadLetters? {
        guard
            case .deadLetters(let deadLetters) = ask(.deadLetters(DeadLettersRequest(after: after, consumer: consumer)))
        else {
            return nil
        }
        return deadLetters
    }
}
