import BusConformance
import Support
import Synchronization
import Testing

@Suite("Restartable service")
struct RestartableServiceTests {
    private struct Failure: Error {}

    @Test("A restartable service runs once at a time, and is ready before the body runs", .timeLimit(.minutes(1)))
    func rounds() async throws {
        let log = Mutex<[String]>([])
        let service = RestartableService { ready in
            log.withLock { $0.append("begin") }
            defer { log.withLock { $0.append("end") } }
            ready()
            await Latch().waitUntilOpenOrCancelled()
            throw CancellationError()
        }
        try await service.whileRunning {
            log.withLock { $0.append("body") }
            try await service.restart()
            log.withLock { $0.append("body") }
        }
        #expect(log.withLock(\.self) == ["begin", "body", "end", "begin", "body", "end"])
    }

    @Test("A failure of the service is thrown, also before it is ready", .timeLimit(.minutes(1)))
    func failure() async {
        let service = RestartableService { _ in throw Failure() }
        await #expect(throws: Failure.self) { try await service.whileRunning {} }
    }
}
