import BusProtocol
import EventBus
import Foundation
import Logging
import TestSupport
import Testing

@testable import Broker

/// `scripts/record-wire` has made `Tests/Fixtures/Golden/wire` with the programs of an earlier version: a coordinator,
/// two services and commands of `segue` with a broker.
@Suite("Recorded exchanges of an earlier version")
struct RecordedExchangeTests {
    private let recording: Recording

    init() throws {
        recording = try Recording()
    }

    @Test func `Each request, reply and packet is understood, and written with the same bytes`() throws {
        for message in recording.messages {
            let frames = message.frames
            let written =
                switch message.direction {
                case .request:
                    try Request(RequestHead(frames[0]).operation, body: frames[1...]).frames(
                        id: RequestHead(frames[0]).id)
                case .reply:
                    try Notice(frames)?.frames ?? Reply.read(frames).reply.frames(to: RequestHead(frames[0]))
                case .feed: try Self.rewritten(packet: frames)
                }
            #expect(Recording.ordered(written) == Recording.ordered(frames), "at \(message.time)")
        }
        #expect(Set(recording.messages.map(\.direction)).count == 3)
    }

    @Test func `The broker answers the requests of the earlier clients as the earlier broker did`() throws {
        try Fixture.inDirectory { directory in
            var replies = try recording.replay(in: directory)
            var operations: Set<BusProtocol.Operation> = []
            for message in recording.messages where message.direction == .reply {
                let head = try RequestHead(message.frames[0])
                operations.insert(head.operation)
                let now = replies[Recording.Asker(client: message.client, head: message.frames[0])]?.popFirst()
                #expect(
                    now.map(Recording.comparable) == Recording.comparable(message.frames),
                    "client \(message.client) at \(message.time)")
            }
            #expect(operations.count > 10)
        }
    }

    private static func rewritten(packet frames: [[UInt8]]) throws -> [[UInt8]] {
        guard frames[0].first != UInt8(ascii: "~") else {
            let answer = try Inbox.readAnswer(frames)
            return Inbox.answer(topic: Array(answer.topic.utf8), epoch: answer.epoch, head: answer.head)
        }
        var packets: [[[UInt8]]] = []
        try FeedPacket.messages(frames).forEachPacket { packets.append($0.frames) }
        return try #require(packets.count == 1 ? packets[0] : nil)
    }
}

private struct Recording {
    struct Message {
        let direction: Direction
        /// 0 for a packet of the feed.
        let client: Int
        /// Milliseconds since the start.
        let time: Int
        let frames: [[UInt8]]
    }

    struct Asker: Hashable {
        let client: Int
        let head: [UInt8]
    }

    enum Direction: String, CaseIterable { case request, reply, feed }

    private static let folder = URL(fileURLWithPath: #filePath).appendingPathComponent(
        "../../Fixtures/Golden/wire"
    ).standardizedFileURL.path

    let messages: [Message]
    /// Milliseconds since 1970.
    private let start: Double

    init() throws {
        let lines = try String(contentsOfFile: "\(Self.folder)/wire.jsonl", encoding: .utf8).split(separator: "\n")
        let objects = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        start = try #require(objects.first?["start"] as? Double)
        messages = try objects.dropFirst().map { object in
            let direction = try #require(Direction.allCases.first { object[$0.rawValue] != nil })
            let frames = try #require(object["frames"] as? [String])
            return Message(
                direction: direction, client: try #require(object[direction.rawValue] as? Int),
                time: try #require(object["at"] as? Int),
                frames: try frames.map { Array(try #require(Data(base64Encoded: $0))) })
        }
    }

    /// Sends the recorded requests to a broker that has the journal of the recording, at the times of the recording.
    ///
    /// - Returns: The replies to each request, which a client may have sent twice.
    func replay(in directory: String) throws -> [Asker: ArraySlice<[[UInt8]]>] {
        let journal = "\(directory)/journal.sqlite"
        try FileManager.default.copyItem(atPath: "\(Self.folder)/journal.sqlite", toPath: journal)
        let begin = ContinuousClock.now
        var engine = try BrokerEngine(
            journal: Journal(path: journal),
            configuration: BrokerConfiguration(address: "ipc://\(directory)", journal: journal),
            logger: .silent,
            clock: BrokerClock(start: begin, wall: start), now: begin)
        var replies: [Asker: ArraySlice<[[UInt8]]>] = [:]
        var ticked = 0
        for message in messages where message.direction == .request {
            while ticked + 1000 <= message.time {
                ticked += 1000
                _ = try engine.tick(now: begin.advanced(by: .milliseconds(ticked)))
            }
            let incoming = Incoming(peer: [UInt8(message.client)], frames: message.frames)
            let outgoing = engine.handle([incoming], now: begin.advanced(by: .milliseconds(message.time)))
            for (peer, frames) in outgoing.frames {
                replies[Asker(client: Int(peer[0]), head: frames[0]), default: []].append(frames)
            }
        }
        return replies
    }

    /// The frames in an order of its own for the topics of heads, which have none.
    static func ordered(_ frames: [[UInt8]]) -> [[UInt8]] {
        guard (try? RequestHead(frames[0]))?.operation == .heads else { return frames }
        return frames.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The frames as text, without what a broker has chosen or measured itself: the ids and times of its own messages,
    /// the marks of these, and the times of dead letters.
    static func comparable(_ frames: [[UInt8]]) -> [String] {
        var frames = ordered(frames)
        switch (try? RequestHead(frames[0]))?.operation {
        case .bye: frames = frames.map { without(24..<32, $0) }
        case .deadLetters, .listDeadLetters: frames = frames.prefix(3) + frames.dropFirst(3).map { without(8..<16, $0) }
        default: break
        }
        return frames.map { frame in
            let text = String(decoding: frame, as: UTF8.self)
            guard text.contains(#""source":"broker"#) else { return text }
            return text.replacing(/"(id|time|traceparent|correlationid)":"[^"]*"/, with: "")
        }
    }

    private static func without(_ place: Range<Int>, _ frame: [UInt8]) -> [UInt8] {
        frame.count < place.upperBound ? frame : Array(frame[..<place.lowerBound] + frame[place.upperBound...])
    }
}
