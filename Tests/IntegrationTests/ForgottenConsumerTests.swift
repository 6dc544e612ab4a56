import CommandLineTestSupport
import Testing

@Suite("Durable consumer of a removed service")
struct ForgottenConsumerTests {
    private static let notifier = """
          error-notifier:
            command: error-notifier
            healthcheck: {test: [NOTIFY]}
            depends_on: {broker: {condition: service_healthy}}
        """

    @Test(
        "The consumer is listed, and can be removed when its process has ended, and not before",
        .timeLimit(.minutes(2)),
        arguments: BusEngine.allCases)
    func forgotten(engine: BusEngine) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(engine.composeFile(services: Self.notifier))
            let up = try await segue("up", "-d", "--wait")
            try #require(up.status == 0, "\(up.error)")
            let services = try await segue("services", "--json")
            #expect(services.lines.count == 1, "the service, and no consumer")
            #expect(!services.output.contains("consumers"), "its only consumer has its own name")
            let refused = try await segue("consumer", "forget", "error-notifier")
            #expect(refused.status == 1)
            #expect(refused.error.contains("runs the consumer 'error-notifier'; stop this process first\n"))

            #expect(try await segue("stop", "error-notifier").status == 0)
            let orphan = "error-notifier (durable consumer, run by no process)"
            #expect(try await segue("services").lines.contains(orphan))
            let forgotten = try await segue("consumer", "forget", "error-notifier")
            #expect(forgotten.status == 0, "\(forgotten.error)")
            #expect(try await !segue("services").lines.contains(orphan))
            #expect(try await segue("consumer", "list").error == "segue: there are no durable consumers\n")

            #expect(try await segue("start", "error-notifier").status == 0)
            #expect(try await segue("wait", "--ready", "error-notifier").status == 0)
            #expect(try await segue("consumer", "list", "--json").output.contains(#""consumer":"error-notifier""#))
        }
    }
}
