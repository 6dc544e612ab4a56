import Consuming
import Contracts
import EventBus
import Logging
import SegueTestSupport
import ServiceLifecycle
import ServiceLifecycleTestKit
import TestSupport
import Testing

@Suite("Handlers: retries", .timeLimit(.minutes(1)))
struct HandlerRetryTests {
    let bus = EventBus.inMemory(source: "greeter/1")
    let clock = ManualClock()
    /// The times of the handler's calls.
    let calls = Calls<Duration>()

    struct Leak: Error {
        let secret = "token-4711"
    }

    /// A consumer whose handler fails a given number of times.
    private func greeter(
        on bus: EventBus? = nil, failures: Int, with error: any Error = Leak(), logger: Logger = .silent
    ) -> HandlerService {
        Handlers("greeter")
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, _ in
                if calls.add(clock.now.offset) <= failures { throw error }
                return [DomainEvent.Greeted(name: command.name)]
            }
            .service(on: bus ?? self.bus, logger: logger, clock: clock)
    }

    private func letDelaysPass(_ count: Int) async throws {
        for _ in 0..<count {
            try await clock.sleepers()
            clock.advanceToNextDeadline()
        }
    }

    @Test("A handler that fails is called again, after growing delays")
    func again() async throws {
        try await withRunning(greeter(failures: 3)) {
            try await bus.send(Command.Greet(name: "Ada"))
            try await letDelaysPass(3)
            _ = try await bus.received(DomainEvent.Greeted.self)
        }
        #expect(calls.all == [.zero, .milliseconds(100), .milliseconds(500), .milliseconds(2100)])
        #expect(try await bus.inspect.deadLetters(of: nil).isEmpty)
        #expect(try await bus.journalled(ApplicationError.self).isEmpty)
    }

    @Test("A message becomes a dead letter after the last attempt, an error is published, and the consumer continues")
    func givenUp() async throws {
        let log = LogRecorder()
        let command = try await withRunning(greeter(failures: 4, logger: log.logger)) {
            let command = try await bus.send(Command.Greet(name: "Ada"))
            try await bus.send(Command.Greet(name: "Grace"))
            try await letDelaysPass(3)
            let greeted = try await bus.received(DomainEvent.Greeted.self)[0]
            #expect(try greeted.decode(DomainEvent.Greeted.self).name == "Grace")
            return command
        }
        let deadLetters = try await bus.inspect.deadLetters(of: "greeter")
        #expect(deadLetters.map(\.message.id) == [command.id])
        let reason = "greeter could not handle command.Greet; see its log"
        #expect(deadLetters.first?.rejection == Rejection(code: "greeter.failed", reason: reason, attempts: 4))
        let error = try #require(try await bus.journalled(ApplicationError.self).first)
        #expect(try error.decode(ApplicationError.self).code == "greeter.failed")
        #expect(error.attributes.causationID == command.id)
        #expect(log.lines.filter { $0.contains("token-4711") }.count == 4, "what was thrown stands in the log alone")
    }

    @Test("An application error is published at once as the result, and does not count as a failure")
    func answer() async throws {
        let error = ApplicationError(code: "greeter.nobody", message: "nobody is there")
        try await withRunning(greeter(failures: 1, with: error)) {
            try await bus.send(Command.Greet(name: "Ada"))
            #expect(try await bus.received(ApplicationError.self)[0].decode(ApplicationError.self) == error)
        }
        #expect(calls.all.count == 1)
        #expect(try await bus.inspect.deadLetters(of: nil).isEmpty)
    }

    @Test("A retry ends when the service is asked to stop, and the message is handled at the next start")
    func shutdown() async throws {
        let consumer = greeter(failures: 1)
        try await bus.send(Command.Greet(name: "Ada"))
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await consumer.run() }
                try await clock.sleepers()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(try await bus.journalled(DomainEvent.Greeted.self).isEmpty)
        #expect(try await bus.inspect.deadLetters(of: nil).isEmpty)
        try await withRunning(greeter(failures: 0)) { _ = try await bus.received(DomainEvent.Greeted.self) }
    }

    @Test("A result is kept while the journal is full, and the handler is not called again")
    func journal() async throws {
        let full = UnreliableBus(bus, code: .journal)
        try await withRunning(greeter(on: full.bus, failures: 0)) {
            full.fail(3)
            try await bus.send(Command.Greet(name: "Ada"))
            try await letDelaysPass(3)
            _ = try await bus.received(DomainEvent.Greeted.self)
        }
        #expect(calls.all.count == 1)
    }

    @Test(
        "A handler is called again when its own message met an unavailable bus",
        arguments: [
            BusError.Code.journal, .unavailable,
        ])
    func interim(code: BusError.Code) async throws {
        let consumer = greeter(failures: 1, with: BusError(code, "it does not serve"))
        try await withRunning(consumer) {
            try await bus.send(Command.Greet(name: "Ada"))
            try await letDelaysPass(1)
            _ = try await bus.received(DomainEvent.Greeted.self)
        }
        #expect(calls.all == [.zero, .seconds(1)])
    }

    @Test("The delays between attempts follow the policy")
    func policy() {
        let policy = RetryPolicy(attempts: 3, firstDelay: .seconds(1), factor: 2)
        #expect((policy.attempts, policy.firstDelay, policy.factor) == (3, .seconds(1), 2))
        #expect(RetryPolicy(attempts: 0, firstDelay: .zero, factor: 1).attempts == 1)
    }
}

extension RetryPolicy {
    /// A single attempt.
    static let once = RetryPolicy(attempts: 1, firstDelay: .zero, factor: 1)
}
