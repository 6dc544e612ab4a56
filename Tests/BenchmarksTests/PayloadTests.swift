import BusFormat
import BusProtocol
import EventBus
import Foundation
import Testing

@testable import Benchmarks

@Suite("Data of a benchmark")
struct PayloadTests {
    @Test("The data has 256 bytes, whatever its number", arguments: [0, 1, 42, 99_999_999])
    func size(index: Int) throws {
        let number = Payload.firstNumber + index
        let event = try Envelope(BenchmarkEvent(number: number), source: "test/1")
        #expect(event.data.count == 256)
        #expect(Payload.number(in: event.data) == number)
    }

    @Test("The data can get another number, and stays the same otherwise")
    func renumbered() throws {
        var bytes = try MessageFrames().data
        Payload.write(Payload.firstNumber + 7, into: &bytes)
        let event = try JSONDecoder().decode(BenchmarkEvent.self, from: Data(bytes))
        #expect(event.number == Payload.firstNumber + 7)
    }

    @Test("Data of another kind has no number")
    func foreign() {
        #expect(Payload.number(in: Data("{}".utf8)) == 0)
    }

    @Test("The data is sent in the frames of a real message")
    func frames() throws {
        let frames = try MessageFrames()
        var packet = FeedPacket(topic: "t", epoch: 1)
        _ = packet.add(FeedMessage(topic: "t", epoch: 1, offset: 2, previous: 1, header: [], data: []))
        #expect(frames.position.count == packet.body.count - 2 * MemoryLayout<UInt32>.size)
        #expect(Topic(String(decoding: frames.topic, as: UTF8.self))?.type == BenchmarkEvent.type)
        #expect(try JSONDecoder().decode(Attributes.self, from: Data(frames.header)).type == BenchmarkEvent.type)
    }
}
