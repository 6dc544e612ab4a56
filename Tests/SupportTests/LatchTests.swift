import Support
import Testing

@Suite("Latches and time limits", .timeLimit(.minutes(1)))
struct LatchTests {
    @Test func `All tasks continue that wait when the latch is opened`() async throws {
        let latch = Latch()
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await latch.waitUntilOpen() } }
            latch.open()
            try await group.waitForAll()
        }
    }

    @Test func `A latch stays open`() async throws {
        let latch = Latch()
        latch.open()
        latch.open()
        for _ in 0..<2 { try await latch.waitUntilOpen() }
    }

    @Test func `A cancelled wait ends, and the latch stays closed for the others`() async throws {
        let latch = Latch()
        let (first, second) = (Task { try await latch.waitUntilOpen() }, Task { try await latch.waitUntilOpen() })
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let isOpen = try await withTimeLimit(.milliseconds(20)) {
            try await latch.waitUntilOpen()
            return true
        }
        #expect(isOpen == nil)
        latch.open()
        try await second.value
    }

    @Test func `A task that is cancelled before does not wait`() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await Latch().waitUntilOpenOrCancelled()
            try await Latch().waitUntilOpen()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `Waits end when latches are opened and tasks are cancelled at the same time`() async {
        for _ in 0..<1000 {
            let latch = Latch()
            let tasks = (0..<4).map { _ in Task { await latch.waitUntilOpenOrCancelled() } }
            async let opening: Void = latch.open()
            for task in tasks { task.cancel() }
            await opening
            for task in tasks { await task.value }
        }
    }

    private struct Late: Error {}

    @Test func `At its limit an operation is cancelled, and its caller gets an error or nil after it has ended`()
        async throws
    {
        let ended = Latch()
        let operation = { @Sendable in
            await Latch().waitUntilOpenOrCancelled()
            ended.open()
        }
        await #expect(throws: Late.self) {
            try await withTimeLimit(.milliseconds(1), orThrow: Late(), operation)
        }
        try await ended.waitUntilOpen()
        #expect(try await withTimeLimit(.milliseconds(1), operation) == nil)
        #expect(try await withTimeLimit(.seconds(60), orThrow: Late()) { 7 } == 7)
        #expect(try await withTimeLimit(.seconds(60)) { 7 } == 7)
    }
}
