import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Support
import TestSupport
import Testing

@Suite("Handlers of queries", .timeLimit(.minutes(1)))
struct QueryServerTests {
    let hub = InMemoryHub()
    let bus: EventBus
    let asker: EventBus

    init() {
        bus = EventBus.inMemory(source: "greeter/1", hub: hub)
        asker = EventBus.inMemory(source: "asker/1", hub: hub)
    }

    private struct Leak: Error {
        let secret = "token-4711"
    }

    private func server(
        on bus: EventBus? = nil, clock: any Clock<Duration> = ContinuousClock(), logger: Logger = .silent
    ) -> HandlerService {
        Handlers("greeter")
            .answer(Query.Salutation.self) { query, _ in
                switch query.name {
                case "nobody": throw ApplicationError(code: "greeter.nobody", message: "nobody is there")
                case "secret": throw Leak()
                default: return Query.Salutation.Answer(text: "Dear \(query.name)")
                }
            }
            .service(on: bus ?? self.bus, logger: logger, clock: clock)
    }

    @Test("A query is answered with the handler's result, and nothing is recorded")
    func answer() async throws {
        try await withRunning(server()) {
            #expect(try await asker.ask(Query.Salutation(name: "Ada")).text == "Dear Ada")
            let query = try Envelope(Query.Salutation(name: "Grace"), source: asker.source, subject: "séance")
            let answer = try await asker.ask(query, timeout: .seconds(5))
            #expect(answer.type == Query.Salutation.type)
            #expect(answer.attributes.source == "greeter/1")
            #expect(answer.attributes.causationID == query.id)
            #expect(answer.attributes.correlationID == query.id)
            #expect(answer.subject == "séance")
        }
        #expect(await hub.end.offset == 0)
    }

    @Test("The asker receives the application error that the handler throws")
    func applicationError() async throws {
        let log = LogRecorder()
        try await withRunning(server(logger: log.logger)) {
            let error = await #expect(throws: ApplicationError.self) {
                try await asker.ask(Query.Salutation(name: "nobody"))
            }
            #expect(error == ApplicationError(code: "greeter.nobody", message: "nobody is there"))
        }
        #expect(!log.lines.contains { $0.hasPrefix("error: ") }, "an answer to the person is no error of the service")
    }

    @Test("The details of any other error are only logged")
    func otherError() async throws {
        let log = LogRecorder()
        try await withRunning(server(logger: log.logger)) {
            let query = try Envelope(Query.Salutation(name: "secret"), source: asker.source)
            let answer = try await asker.ask(query, timeout: .seconds(5))
            #expect(try answer.decode(ApplicationError.self).code == "greeter.failed")
            #expect(!String(decoding: answer.data, as: UTF8.self).contains("token-4711"))
        }
        #expect(log.lines.contains { $0.contains("token-4711") })
    }

    @Test("A query that cannot be read is answered with the mistake")
    func malformed() async throws {
        try await withRunning(server()) {
            let attributes = Attributes(type: Query.Salutation.type, source: "stranger/1")
            let answer = try await asker.ask(
                Envelope(attributes: attributes, data: Data("{}".utf8)), timeout: .seconds(5))
            let error = try answer.decode(ApplicationError.self)
            #expect(error.code == "message.malformed")
            #expect(error.message.contains("'name' is missing"))
        }
    }

    @Test("A server that is asked to stop cancels its open queries")
    func shutdown() async throws {
        let started = Latch()
        let server = Handlers("greeter")
            .answer(Query.Salutation.self) { _, _ in
                started.open()
                try await Latch().waitUntilOpen()
                return Query.Salutation.Answer(text: "too late")
            }
            .service(on: bus)
        let error = await #expect(throws: BusError.self) {
            try await testGracefulShutdown { trigger in
                try await withThrowingTaskGroup { group in
                    group.addTask { try await server.run() }
                    try await server.ready.waitUntilOpen()
                    group.addTask { _ = try await asker.ask(Query.Salutation(name: "Ada"), timeout: .seconds(50)) }
                    try await started.waitUntilOpen()
                    trigger.triggerGracefulShutdown()
                    try await group.waitForAll()
                }
            }
        }
        #expect(error?.code == .cancelled)
    }
}
