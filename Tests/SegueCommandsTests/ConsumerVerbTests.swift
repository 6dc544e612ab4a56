import CommandLineTestSupport
import EventBus
import Foundation
import Testing

@Suite("'segue consumer', and consumers in 'segue services'", .timeLimit(.minutes(1)))
struct ConsumerVerbTests {
    private struct Status: Decodable, Equatable {
        let consumer: String
        let lag: UInt64
        let members: Int
        let services: [String]
        let position: Receipt.JournalPosition
    }

    private func statuses(_ result: SegueCommandLine.Result) throws -> [Status] {
        try result.lines.map { try JSONDecoder().decode(Status.self, from: Data($0.utf8)) }
    }

    /// A bus with two services, one of which does not publish its consumers, and a consumer that no service runs.
    private func onBus(
        _ engine: BusEngine = .broker, _ body: (SegueCommandLine) async throws -> Void
    ) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            for (name, consumers) in [("music-service", ""), ("coordinator", #","consumers":["rooms.ios"]"#)] {
                let presence = """
                    {"name":"\(name)","version":"1","instance":"ab","pid":7,"receives":[],"sends":[]\(consumers)}
                    """
                try await segue("send", "document.Presence", presence, "--key", name)
            }
            let first = try #require(try await segue.offsets.first)
            try await segue.withConnection { bus in
                for name in ["music-service", "rooms.ios", "old-service"] {
                    let claim = try await bus.engine.claim(consumer: name, as: .exclusive)
                    let position = Position(epoch: claim.epoch, offset: first)
                    try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, upTo: position)))
                }
            }
            try await body(segue)
        }
    }

    @Test("'segue services' lists the consumers that no process runs, with their lag", arguments: BusEngine.allCases)
    func services(engine: BusEngine) async throws {
        try await onBus(engine) { segue in
            let services = try await segue("services")
            #expect(services.status == 0 && services.error.isEmpty, "\(services.error)")
            #expect(services.output.hasSuffix("\nold-service (durable consumer, run by no process)\n  lag      1\n"))
            #expect(services.lines.count == 10)

            let json = try await segue("services", "--json")
            #expect(json.lines.count == 3)
            #expect(json.lines[0].contains(#""consumers":["rooms.ios"]"#))
            #expect(!json.lines[1].contains("consumers"), "it does not tell")
            let last = try JSONDecoder().decode(Status.self, from: Data((json.lines.last ?? "").utf8))
            let first = try await segue.offsets.first
            #expect(last.consumer == "old-service" && last.lag == 1 && last.services.isEmpty)
            #expect(last.position.offset == first)
        }
    }

    @Test(
        "'segue services' lists a consumer when its process has ended, and not while members share it",
        arguments: BusEngine.allCases)
    func gone(engine: BusEngine) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            try await segue.withConnection { bus in
                _ = try await bus.engine.claim(consumer: "workers", as: .shared)
                #expect(try await segue("services", "--json").output.isEmpty)
                #expect(try await segue("consumer", "list").output.contains("1 process without a presence"))
                let refused = try await segue("consumer", "forget", "workers")
                #expect(refused.status == 1)
                #expect(refused.error == "segue: processes share the durable consumer 'workers'; stop them first\n")
            }
            #expect(try statuses(try await segue("services", "--json")).map(\.consumer) == ["workers"])
        }
    }

    @Test("'segue consumer list' shows all consumers, and the processes that run them", arguments: BusEngine.allCases)
    func list(engine: BusEngine) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            let none = try await segue("consumer", "list")
            #expect(none.status == 0 && none.error == "segue: there are no durable consumers\n")
        }
        try await onBus(engine) { segue in
            let table = try await segue("consumer", "list")
            let first = try #require(try await segue.offsets.first)
            #expect(
                table.lines.map { $0.split(separator: " ").joined(separator: " ") } == [
                    "CONSUMER POSITION LAG RUN BY", "music-service \(first) 1 music-service/ab",
                    "old-service \(first) 1 no process", "rooms.ios \(first) 1 coordinator/ab",
                ])
            let all = try statuses(try await segue("consumer", "list", "--json"))
            #expect(all.map(\.consumer) == ["music-service", "old-service", "rooms.ios"])
            #expect(all.map(\.services) == [["music-service/ab"], [], ["coordinator/ab"]])
            try await segue.withConnection { bus in
                let attributes = Attributes(type: MessageType(kind: .event, name: "Tick"), source: "clock/1")
                let ticks = (0..<1000).map { _ in Envelope(attributes: attributes, data: Data("{}".utf8)) }
                for _ in 0..<10 { try await bus.publish(Batch(ticks)) }
            }
            #expect(try statuses(try await segue("consumer", "list", "--json")).map(\.lag) == [10_000, 10_000, 10_000])
            let lines = try await segue("consumer", "list").lines
            #expect(lines.dropFirst().allSatisfy { $0.contains(" 10000+ ") }, "\(lines)")
        }
    }

    @Test(
        "'segue consumer forget' removes a consumer that no process runs, without a question",
        arguments: BusEngine.allCases,
        [true, false])
    func forget(engine: BusEngine, json: Bool) async throws {
        try await onBus(engine) { segue in
            let offsets = try await segue.offsets
            let removed = try await segue.run(["consumer", "forget", "old-service"] + (json ? ["--json"] : []))
            #expect(removed.status == 0 && removed.error.isEmpty, "\(removed.error)")
            if json {
                let status = try #require(try statuses(removed).first)
                #expect((status.consumer, status.lag, status.position.offset) == ("old-service", 1, offsets[0]))
            } else {
                let span = "\(offsets[0]) of \(offsets[1])"
                #expect(removed.output == "removed old-service; it had handled the journal up to offset \(span)\n")
            }
            #expect(try await segue("services", "--json").lines.count == 2)
            let again = try await segue("consumer", "forget", "old-service")
            #expect(again.status == 1 && again.output.isEmpty)
            #expect(again.error == "segue: there is no durable consumer 'old-service'; see 'segue consumer list'\n")
        }
    }

    @Test(
        "'segue consumer forget' refuses a consumer that a process runs, and an unknown one, in one line",
        arguments: BusEngine.allCases)
    func mistakes(engine: BusEngine) async throws {
        try await onBus(engine) { segue in
            for (name, service) in [("music-service", "music-service"), ("rooms.ios", "coordinator")] {
                let refused = try await segue("consumer", "forget", name, "--json")
                #expect(refused.status == 1 && refused.output.isEmpty)
                #expect(
                    refused.error
                        == "segue: \(service) (instance ab, pid 7) runs the consumer '\(name)'; "
                        + "stop this process first\n")
            }
            let misspelt = try await segue("consumer", "forget", "old-servic")
            #expect(
                misspelt.error == "segue: there is no durable consumer 'old-servic'; did you mean 'old-service'?\n")
            let nothing = try await segue("consumer", "forget")
            #expect(nothing.status == 64 && nothing.errorLines.count == 1)
            #expect(try await segue("consumer", "list", "--json").lines.count == 3)
        }
    }
}
