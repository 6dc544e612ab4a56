import BusFormat
import EventBus
import Support
import Testing

@testable import Benchmarks

@Suite("The benchmark of envelopes")
struct EnvelopeCodingTests {
    @Test("The functions written by hand write the same bytes as an envelope, and read the same command")
    func equal() throws {
        var attributes = Attributes(type: BenchmarkCommand.type, source: "device/1", subject: "bertha")
        attributes.origin = Origin(platform: "ios", device: "1", instance: "timer-2")
        attributes.expireAsUsual()
        let command = BenchmarkCommand(number: 42, name: "Grüße")
        let hand = HandWrittenCommand(attributes, command)
        #expect(hand.header == attributes.json)
        #expect(try hand.data == JSONWriter.bytes(of: command))
        #expect(HandWrittenCommand(header: hand.header, data: hand.data) == hand)
        let envelope = try Envelope(header: hand.header[...], data: hand.data[...])
        #expect(try HandWrittenCommand(envelope.attributes, envelope.decode()) == hand)
        #expect(HandWrittenCommand(header: hand.header, data: Array("{}".utf8)) == nil)
    }

    @Test("The times for one command are measured")
    func measured() async throws {
        let options = BenchmarkOptions(rounds: 1, messages: 20, durability: .process, bus: .broker())
        let results = try await EnvelopeCoding(run: BenchmarkRun(benchmark: .envelope, options: options)).measure()
        #expect(results.map(\.name) == ["envelope.write", "envelope.read", "envelope.unread"])
        #expect(results.allSatisfy { $0.value > 0 && $0.baselineValue > 0 && $0.unit == "ns" })
    }
}
