import Broker
import EventBus
import Logging
import Testing
import ZeroMQ

@Suite("What is not the protocol, on the broker's sockets")
struct GarbageTests {
    /// A log as it is written.
    private struct Lines: LogHandler {
        let lines: AsyncStream<String>.Continuation
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.yield("\(event.message) \(event.metadata ?? [:])")
        }
    }

    @Test(
        "what comes to the feed and is no subscription is dropped, and the log says how much", .timeLimit(.minutes(1)))
    func feed() async throws {
        try await TestBroker.withDirectory { broker in
            let (log, lines) = AsyncStream.makeStream(of: String.self)
            let logger = Logger(label: "broker") { _ in Lines(lines: lines) }
            try await whileRunning({
                try sendGarbage(to: "\(broker.address)/feed")
                let line = await log.first { $0.contains("refused or dropped") }
                #expect(line?.contains(#""count": 1"#) == true, "\(line ?? "")")
                let bus = try broker.bus()
                try await bus.whileOpen { try await bus.publish(numbers: 0..<1) }
            }) { ready in
                try await Broker(broker.configuration, logger: logger).run { ready() }
            }
        }
    }

    private func sendGarbage(to endpoint: String) throws {
        let socket = try Socket(.xsub, options: [.linger(5000)])
        try socket.connect(endpoint)
        #expect(try socket.send([Array("GET / HTTP/1.1".utf8)]))
    }
}
