import BusFormat
import EventBus
import Foundation
import Support
import Testing

@testable import NATSLayout

@Suite("Heartbeats of a client")
struct HeartbeatTests {
    private let producer = ProducerID()

    @Test("Many members and long problems are sent in several heartbeats, which name all members")
    func many() throws {
        let members = (0..<3000).map { number in
            Heartbeat.Member(
                consumer: "worker-\(number)", id: UUID(), isExclusive: false,
                problem: number.isMultiple(of: 2) ? nil : String(repeating: "ä", count: 5_000))
        }
        let parts = Heartbeat(producer: producer, members: members, seen: 7, epoch: 8, lacksLast: true).parts
        let read = try parts.map { part in
            let json = try part.json()
            #expect(json.count < 256 << 10, "the smallest max_payload")
            return try Heartbeat(json: json)
        }
        #expect(read.flatMap(\.members) == members)
        #expect(read.allSatisfy { $0.producer == producer })
        #expect(read.filter { $0.epoch == 8 && $0.seen == 7 && $0.lacksLast == true } == [read.last])
        #expect(read.dropLast().allSatisfy { $0.epoch == 0 })
    }

    @Test("The reply to a heartbeat has the keys that older clients read")
    func reply() throws {
        let reply = HeartbeatReply(epoch: 1, watermark: 2)
        let json = try JSONValue(parsing: Data(try reply.json()))
        #expect(json["record"] == ["epoch": 1, "mark": 2])
        #expect(try HeartbeatReply(json: Array(json.description.utf8)) == reply)
    }

    @Test("A client without members sends one heartbeat")
    func none() {
        let heartbeat = Heartbeat(producer: producer, members: [], seen: 0, epoch: 0)
        #expect(heartbeat.parts == [heartbeat])
    }

    @Test("A heartbeat with an impossible time is refused", arguments: [Int64.min, -1, 0, .max])
    func time(time: Int64) throws {
        let heartbeat = Heartbeat(
            producer: producer, members: [], seen: 7, epoch: 8, last: SeenMessage(sequence: 7, time: time))
        #expect(throws: ProtocolError.self) { try heartbeat.check() }
    }

    @Test func `A message is lost if another one has its position, or the stream ends before it`() {
        let received = SeenMessage(sequence: 7, time: 5)
        #expect(!received.isLost((time: 5, id: "a"), upTo: 7))
        #expect(received.isLost((time: 6, id: nil), upTo: 7))
        let published = SeenMessage(sequence: 7, time: 5, id: "a")
        #expect(!published.isLost((time: 4, id: "a"), upTo: 7), "the time of the server is not known")
        #expect(published.isLost((time: 5, id: "b"), upTo: 7))
        #expect(published.isLost((time: 5, id: nil), upTo: 7))
        for message in [received, published] {
            #expect(message.isLost(nil, upTo: 6))
            #expect(!message.isLost(nil, upTo: 7), "retention has removed it")
        }
    }
}
