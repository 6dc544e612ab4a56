import CommandLineTestSupport
import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import Navigation
import SegueTestSupport
import ServiceLifecycle
import ServiceRuntime
import Support
import Synchronization
import TestSupport
import Testing

@testable import greeter

extension Document {
    fileprivate struct GuestBook: DocumentMessage {
        var names: [String] = []
        var isLoading = false
    }

}

extension Document {
    struct Room: DocumentMessage {
        static var line: String? { "guest ${guest}" }
        var number: String
        var guest: String
        var key: String? { number }
    }
}

extension Document {
    struct Song: WorkRecord {
        var instance: String
        var number = 0
        var key: String? { instance }
        // The music plays until its screen is dismissed.
        var unfinished: Command.MusicWanted? { Command.MusicWanted() }
    }
}

let music = Handlers("music")
    .work(recordedBy: Document.Song.self, of: .screen) { _, context in
        Document.Song(instance: context.cause.attributes.instance ?? "")
    } work: { _, context in
        var song = Document.Song(instance: context.cause.attributes.instance ?? "")
        while true {
            try await Task.sleep(for: .seconds(180))
            song.number += 1
            try await context.publish(song)
        }
    }

extension Command {
    struct MusicWanted: CommandMessage {}

    fileprivate struct GuestMoved: CommandMessage {
        var from: String
        var to: String
    }

    fileprivate struct WakeUpOrdered: CommandMessage {
        var room: String
        var minutes: Int
    }

    fileprivate struct WakeUpDue: CommandMessage {
        var room: String
    }
}

extension DomainEvent {
    fileprivate struct PhoneRang: EventMessage {
        var room: String
    }
}

extension Query {
    fileprivate struct Guests: QueryMessage {
        struct Answer: Codable, Sendable {
            var names: [String]
        }

        var prefix: String
    }
}

@Suite("Samples of docs/services.md", .timeLimit(.minutes(3)))
struct ServicesPageTests {
    private let hub = InMemoryHub()
    private let view: EventBus

    init() {
        view = EventBus.inMemory(source: "device/1", hub: hub)
    }

    private var process: ServiceContext {
        ServiceContext(
            process: ServiceProcess("greeter"),
            bus: EventBus.inMemory(source: "greeter/1", hub: hub), busAddress: "memory:test",
            configuration: ServiceConfiguration(environment: [:]), logger: .silent)
    }

    @Test("A handler reads a document by its key, and withdraws it together with its other results")
    func results() async throws {
        let handlers = Handlers("reception")
            .on(Command.GuestMoved.self, sends: Document.Room.self) { command, context in
                guard let room = try await context.document(Document.Room.self, key: command.from) else { return [] }
                return [
                    .withdrawn(Document.Room.self, key: room.number),
                    Document.Room(number: command.to, guest: room.guest),
                ]
            }
        for (number, guest) in [("1", "Ada"), ("2", "Bo")] {
            try await view.publish(Document.Room(number: number, guest: guest))
        }
        try await withRunning(HandlerService(handlers, in: process)) {
            try await view.send(Command.GuestMoved(from: "1", to: "3"))
            _ = try await view.first(Document.Room.self) { $0.number == "3" }
            let rooms = try await view.documents(matching: [.type(Document.Room.self)])
            let guests = try rooms.map { try $0.decode(Document.Room.self) }.map { "\($0.number) \($0.guest)" }
            #expect(guests.sorted() == ["2 Bo", "3 Ada"])
        }
    }

    @Test("A handler can publish at once, and answer with an error")
    func errors() async throws {
        let handlers = Handlers("greeter")
            .on(Command.GuestArrived.self, sends: Document.GuestBook.self) { command, context in
                try await context.publish(Document.GuestBook(isLoading: true))
                guard !command.name.isEmpty else {
                    throw ApplicationError(
                        code: "guest.nameless", message: "The guest has no name", recovery: "Enter a name.")
                }
                return [Document.GuestBook(names: [command.name])]
            }
        try await withRunning(HandlerService(handlers, in: process)) {
            try await view.send(Command.GuestArrived(name: ""))
            let error = try await view.received(ApplicationError.self)[0].decode(ApplicationError.self)
            #expect(error.code == "guest.nameless")
            #expect(try await view.document(Document.GuestBook.self)?.isLoading == true)
            #expect(try await view.inspect.deadLetters(of: nil).isEmpty)
        }
    }

    @Test("A loading document is replaced, whatever the outcome of the handler")
    func givenUp() async throws {
        @Sendable func lookUp(_ name: String) throws -> String {
            throw ApplicationError(code: "guest.unknown", message: "There is no guest \(name)")
        }
        let handlers = Handlers("greeter")
            .on(
                Command.GuestArrived.self, sends: Document.GuestBook.self,
                whenGivenUp: { _ in [Document.GuestBook()] }
            ) { command, context in
                try await context.publish(Document.GuestBook(isLoading: true))
                return [Document.GuestBook(names: [try lookUp(command.name)])]
            }
        try await withRunning(HandlerService(handlers, in: process)) {
            try await view.send(Command.GuestArrived(name: "Ada"))
            _ = try await view.received(ApplicationError.self)
            #expect(try await view.document(Document.GuestBook.self)?.isLoading == false)
        }
    }

    @Test("The number of attempts and their delays can be set")
    func retries() async throws {
        let calls = Calls()
        let handlers = Handlers(
            "greeter", retries: RetryPolicy(attempts: 2, firstDelay: .milliseconds(50), factor: 1)
        )
        .on(Command.GuestArrived.self) { _, _ in throw calls.failure() }
        try await withRunning(HandlerService(handlers, in: process)) {
            try await view.send(Command.GuestArrived(name: "Ada"))
            let error = try await view.received(ApplicationError.self)[0].decode(ApplicationError.self)
            #expect(error.code == "greeter.failed")
        }
        #expect(calls.count == 2)
        #expect(try await view.inspect.deadLetters(of: "greeter").map(\.rejection.attempts) == [2])
    }

    @Test("The documents of a session are withdrawn at its end, and late commands are discarded")
    func sessionEnd() async throws {
        let rooms = Rooms()
        let handlers = Handlers("greeter")
            .on(Command.GuestArrived.self, sends: Document.GuestBook.self) { command, _ in
                [Document.GuestBook(names: [command.name])]
            }
            .onSessionEnded { context in rooms.release(context.session) }
            .discardingCommandsOfEndedSessions()
        try await withRunning(HandlerService(handlers, in: process)) {
            try await view.beginSession("suite")
            for subject in ["suite", Session.default] {
                try await view.send(Command.GuestArrived(name: "Ada"), subject: subject)
            }
            _ = try await view.received(Document.GuestBook.self, 2)
            try await view.endSession("suite")
            try await view.send(
                Command.GuestArrived(name: "Bo"), subject: "suite", origin: Origin(platform: "ios", device: "phone"))
            _ = try await view.received(DomainEvent.MessageDiscarded.self)
            #expect(rooms.released == ["suite"])
            #expect(try await view.document(Document.GuestBook.self, subject: "suite") == nil)
            #expect(try await view.document(Document.GuestBook.self) != nil)
        }
    }

    @Test("Work of a screen ends when the screen is dismissed, and its documents are withdrawn")
    func screenWork() async throws {
        try await show(["lounge-1"])
        try await withRunning(HandlerService(music, in: process)) {
            try await view.send(Command.MusicWanted(), origin: Origin(platform: "ios", instance: "lounge-1"))
            _ = try await view.received(Document.Song.self)
            try await show([], dismissing: "lounge-1")
            while try await view.document(Document.Song.self, key: "lounge-1") != nil {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    @Test("A handler can schedule a command")
    func later() async throws {
        let handlers = Handlers("concierge")
            .on(Command.WakeUpOrdered.self, sends: Command.WakeUpDue.self) { command, context in
                [.later(Command.WakeUpDue(room: command.room), after: .seconds(60 * command.minutes), id: command.room)]
            }
            .on(Command.WakeUpDue.self, sends: DomainEvent.PhoneRang.self) { command, _ in
                [DomainEvent.PhoneRang(room: command.room)]
            }
        let clock = ManualClock()
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let bus = EventBus.inMemory(source: "concierge/1", hub: hub)
        try await withRunning(handlers.service(on: bus, clock: clock, now: { start + clock.now.offset })) {
            try await view.send(Command.WakeUpOrdered(room: "12", minutes: 480))
            _ = try await view.received(Document.ScheduledCommand.self)
            try await clock.sleepers()
            clock.advance(by: .seconds(480 * 60))
            let rang = try await view.received(DomainEvent.PhoneRang.self)[0]
            #expect(try rang.decode(DomainEvent.PhoneRang.self).room == "12")
        }
    }

    @Test("A service reads its settings when it starts")
    func settings() async throws {
        let sign = Prepared<String>()
        let handlers = Handlers("greeter")
            .on(Command.GuestArrived.self, sends: DomainEvent.GuestWelcomed.self) { command, _ in
                [DomainEvent.GuestWelcomed(text: "Welcome to the \(try sign()), \(command.name)!")]
            }
        let program = ServiceProgram(handlers) { context in sign.set(try context.require("HOTEL_NAME")) }
        let group = ProgramGroup(
            [program], on: hub, configuration: ServiceConfiguration(environment: ["HOTEL_NAME": "Ritz"])
        ) { _ in .silent }
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await group.run() }
            defer { tasks.cancelAll() }
            try await view.send(Command.GuestArrived(name: "Ada"))
            let welcomed = try await view.received(DomainEvent.GuestWelcomed.self)[0]
            #expect(try welcomed.decode(DomainEvent.GuestWelcomed.self).text == "Welcome to the Ritz, Ada!")
        }
    }

    @Test("A query is answered directly")
    func queries() async throws {
        let handlers = Handlers("greeter")
            .answer(Query.Guests.self) { query, context in
                let book = try await context.document(Document.GuestBook.self)
                return Query.Guests.Answer(names: (book?.names ?? []).filter { $0.hasPrefix(query.prefix) })
            }
        try await view.publish(Document.GuestBook(names: ["Ada", "Bo"]))
        try await withRunning(HandlerService(handlers, in: process)) {
            let answer = try await view.ask(Query.Guests(prefix: "A"))
            #expect(answer.names == ["Ada"])
        }
    }

    @Test("A custom service reports when it is ready, and ends on request")
    func readiness() async throws {
        let sensor = DoorSensor()
        try await withRunning(sensor) {}
    }

    @Test("An error of the command line contains no control characters of an argument")
    func usageError() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.shell(#"greeter "$(printf '\033]0;x\007\302\233')""#)
            #expect(result.status == 64 && result.output.isEmpty)
            #expect(result.error.contains(#"'\u001b]0;x\u0007\u009b'"#), "\(result.error.debugDescription)")
            #expect(!result.error.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
        }
    }

    @Test("The commands of the page run, with its compose file")
    func commands() async throws {
        let page = try Self.text("docs/services.md")
        let compose = try #require(page.firstMatch(of: #/(?s)```yaml\n(.*?)```/#)?.1)
        let commands = try #require(page.firstMatch(of: #/(?s)```sh\n(.*?)```/#)?.1)
        try await SegueCommandLine.inScratch { segue in
            try segue.write(String(compose))
            let result = try await segue.shell("set -euo pipefail; exec 2>&1\n\(commands)")
            #expect(result.status == 0, "\(result.output)")
            #expect(result.output.contains("Welcome, Ada!"), "\(result.output)")
            #expect(result.output.contains(#""name" : "greeter""#), "\(result.output)")
        }
    }

    /// Publishes what a coordinator publishes in one batch: the navigation state and a dismissal.
    private func show(_ instances: [String], dismissing gone: String? = nil) async throws {
        let flow = try Flow("hotel", version: 1, platform: "ios", start: "root") { Flow.Screen("root") }
        var snapshot = Machine(flow: flow).snapshot
        snapshot.state.path = instances.map { ScreenInstance(screen: "lounge", id: $0) }
        var batch = [try Envelope(Document.NavigationState(snapshot), source: "coordinator/1")]
        if let gone {
            batch.append(
                try Envelope(
                    DomainEvent.ScreenDismissed(instance: gone, screen: "lounge"), source: "coordinator/1",
                    origin: Origin(platform: "ios", instance: gone)))
        }
        try await view.publish(Batch(batch))
    }

    private static func text(_ path: String) throws -> String {
        let file = URL(filePath: #filePath).appending(path: "../../../\(path)").standardizedFileURL
        return try String(contentsOf: file, encoding: .utf8)
    }
}

/// Counts the calls of a handler that always fails.
private final class Calls: Sendable {
    private struct Failure: Error {}

    private let counter = Mutex(0)

    var count: Int { counter.withLock(\.self) }

    func failure() -> any Error {
        counter.withLock { $0 += 1 }
        return Failure()
    }
}

/// Collects the sessions whose rooms are free again.
private final class Rooms: Sendable {
    private let sessions = Mutex<[String]>([])

    var released: [String] { sessions.withLock(\.self) }

    func release(_ session: String) {
        sessions.withLock { $0.append(session) }
    }
}

private struct DoorSensor: ReadyService {
    let ready = Latch()

    func run() async throws {
        // Open the sensor here.
        ready.open()
        try await gracefulShutdown()
    }
}
