import BusProtocol
import EventBus
import Foundation
import GRDB

@testable import Broker

/// An engine on a journal of its own, with one producer and a clock that is moved by hand.
final class Fixture {
    let path: String
    let producer = ProducerID()
    var now = ContinuousClock.now
    private var engine: BrokerEngine
    private(set) var lastFeed: [FeedMessage] = []
    var journal: Journal { engine.journal }

    static func run(_ body: (Fixture) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("segue-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(Fixture(path: directory.appendingPathComponent("journal.sqlite").path))
    }

    private init(path: String) throws {
        self.path = path
        engine = try BrokerEngine(journal: Journal(path: path), now: now)
    }

    func restart() throws {
        engine = try BrokerEngine(journal: Journal(path: path), now: now)
    }

    func handle(_ incoming: [Incoming]) -> Outgoing {
        engine.handle(incoming, now: now)
    }

    func ask(_ request: Request) -> Reply {
        let outgoing = handle([Incoming(peer: [1], frames: request.frames(id: 1))])
        lastFeed = outgoing.feed
        do {
            return try Reply.read(outgoing.replies.first?.frames ?? []).reply
        } catch {
            return .refused(error)
        }
    }

    static func message(_ name: String, kind: MessageKind = .event) -> PublishedMessage {
        let topic = Topic(MessageType(kind: kind, name: name), subject: "default")
        return PublishedMessage(topic: topic.name, subject: "default", key: "", header: [1], data: [2])
    }

    func publish(
        sequence: UInt64, _ names: [String], kind: MessageKind = .event, isLeased: Bool = false,
        checkpoint: (consumer: String, owner: UInt64, offset: UInt64)? = nil
    ) -> Reply {
        let checkpoint = checkpoint.map {
            CheckpointFrame(consumer: $0.consumer, ownerEpoch: $0.owner, epoch: journal.epoch, offset: $0.offset)
        }
        return ask(
            .publish(
                PublishRequest(
                    producer: producer, sequence: sequence, isLeased: isLeased, checkpoint: checkpoint,
                    messages: names.map { Self.message($0, kind: kind) })))
    }

    func claim(_ consumer: String, token: ProducerID = ProducerID()) -> Reply {
        ask(.claim(ClaimRequest(token: token, consumer: consumer)))
    }

    func documents() -> [FeedMessage] {
        guard case .page(let page) = ask(.documents(PageRequest(epoch: 0, after: 0, prefixes: ["document."]))) else {
            return []
        }
        return page.messages
    }

    /// - Parameter duration: how far the clock is moved for this look only.
    func expireLeases(after duration: Duration) throws -> [FeedMessage] {
        try engine.expireLeases(now: now.advanced(by: duration)).feed
    }

    func corrupt(offset: Int) throws {
        try DatabaseQueue(path: path).write { database in
            try database.execute(sql: "UPDATE messages SET data = x'ff' WHERE offset = ?", arguments: [offset])
        }
    }
}
