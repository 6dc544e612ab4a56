public import Consuming
internal import Contracts
internal import Coordinator
internal import ErrorNotification
public import EventBus
internal import FlowReview
internal import Logging
public import Navigation
internal import ServiceLifecycle
internal import Support
internal import Synchronization

/// An app in the process of a test: flows, handlers and the error notifier, with a bus in memory and a clock that the
/// test moves.
///
///     let app = try await TestApp(flow: coffeeFlow(), barista)
///     try await app.send(Command.CoffeeOrdered(kind: "lungo"))
///     #expect(try await app.screen == "cup(kind: lungo)")
///
/// The app is *at rest* when every message is handled and no timer is due. The methods that change something return
/// when the app is at rest. Work beside the loop may still run then: wait for the message that it publishes, with the
/// methods of ``ObservedBus``.
///
/// The clock gives the messages their times. It measures scheduled commands, the deadlines of guards and of leaving
/// screens, the display time of banners, and the lifetime of commands. The pauses between the attempts of a handler
/// that fails are real.
///
/// The app ends when the test releases this object.
public final class TestApp: ObservedBus, Sendable {
    public let clock: ManualClock
    private let observer: BusObserver
    private let hub: InMemoryHub
    private let flows: [Flow]
    private let timers: AppTimers
    /// The types that each durable consumer receives.
    private let receives: [String: Set<MessageType>]
    private let running: Task<Void, Never>
    /// The line of the test that has started the app.
    private let creator: Caller

    public var bus: EventBus { observer.bus }
    public var transcript: Transcript { observer.transcript }
    public var deadline: Duration? { observer.deadline }

    /// Starts an app with one platform, and waits until it is at rest.
    /// - Parameters:
    ///   - flow: The flow of the platform.
    ///   - handlers: The services.
    ///   - clock: The clock of the app. The default stands at the present second.
    ///   - deadline: The maximum time of each wait. Nil for the default, see ``ObservedBus/deadline``.
    /// - Throws: ``StackFailure`` if the app is not at rest before the deadline.
    public convenience init(
        flow: Flow, _ handlers: Handlers..., clock: ManualClock = ManualClock(), deadline: Duration? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await self.init(
            [flow], handlers: handlers, clock: clock, deadline: deadline, at: Caller(fileID: fileID, line: line))
    }

    /// Starts an app with a flow for each platform. Without a flow the app has only services.
    public convenience init(
        flows: [Flow], _ handlers: Handlers..., clock: ManualClock = ManualClock(), deadline: Duration? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await self.init(
            flows, handlers: handlers, clock: clock, deadline: deadline, at: Caller(fileID: fileID, line: line))
    }

    private init(
        _ flows: [Flow], handlers: [Handlers], clock: ManualClock, deadline: Duration?, at caller: Caller
    ) async throws {
        let hub = InMemoryHub()
        let observer = BusObserver(EventBus.inMemory(source: "test/1", hub: hub), deadline: deadline)
        (self.hub, self.observer, self.flows, self.clock, creator) = (hub, observer, flows, clock, caller)
        receives = Dictionary(
            flows.map { ($0.consumer, Set($0.receives)) } + handlers.map { ($0.name, Set($0.consumes)) }
                + [(ErrorNotifier.consumer, Set(ErrorNotifier.receives.types))]
        ) { $0.union($1) }
        timers = AppTimers(platforms: Set(flows.map(\.platform)), consumers: Set(handlers.map(\.name)))
        let services = Self.services(flows, handlers: handlers, on: hub, clock: clock)
        running = Task {
            await Timestamp.$source.withValue({ clock.date }) {
                try? await observer.whileRecording {
                    try await withThrowingDiscardingTaskGroup { group in
                        for service in services { group.addTask { try await service.run() } }
                    }
                }
            }
        }
        for service in services {
            try await within(deadline) {
                try await service.ready.waitUntilOpen()
            } orThrow: { [observer] in
                observer.failure("\($0) the start of the app", at: caller)
            }
        }
        try await rest(caller)
    }

    deinit { running.cancel() }

    private static func services(
        _ flows: [Flow], handlers: [Handlers], on hub: InMemoryHub, clock: ManualClock
    ) -> [any ReadyService] {
        let logger = Logger(label: "app") { _ in SwiftLogNoOpLogHandler() }
        // Nobody moves the clock while a method waits for the next attempt of a handler.
        let clock = ServiceClock(now: { clock.date }, clock: clock, pauses: ContinuousClock())
        let notifier = ErrorNotifier(
            bus: .inMemory(source: "error-notifier/1", hub: hub), logger: logger, clock: clock)
        let coordinators = flows.map { flow in
            Coordinator(
                flow: flow, bus: .inMemory(source: "\(flow.platform)-coordinator/1", hub: hub), logger: logger,
                clock: clock)
        }
        return [notifier] + coordinators
            + handlers.map {
                HandlerService($0, bus: .inMemory(source: "\($0.name)/1", hub: hub), logger: logger, clock: clock)
            }
    }

    // MARK: What a user and the services do

    /// Sends a command, and waits until the app is at rest.
    /// - Returns: The command with its position.
    /// - Throws: ``StackFailure`` if the app is not at rest before the deadline.
    @discardableResult
    public func send(
        _ command: some CommandMessage, subject: String = Session.default, origin: Origin = Origin(),
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> Envelope {
        let sent = try await Timestamp.$source.withValue({ [clock] in clock.date }) {
            try await bus.send(command, subject: subject, origin: origin)
        }
        try await rest(Caller(fileID: fileID, line: line))
        return sent
    }

    /// Publishes an event, an error or a document, and waits until the app is at rest.
    /// - Returns: The message with its position.
    /// - Throws: ``StackFailure`` if the app is not at rest before the deadline.
    @discardableResult
    public func publish(
        _ message: some PublishableMessage, subject: String = Session.default, origin: Origin = Origin(),
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> Envelope {
        let published = try await Timestamp.$source.withValue({ [clock] in clock.date }) {
            try await bus.publish(message, subject: subject, origin: origin)
        }
        try await rest(Caller(fileID: fileID, line: line))
        return published
    }

    /// Moves the clock, and waits until the app is at rest. The clock stops at each time at which a timer is due.
    /// - Throws: ``StackFailure`` if the app is not at rest before the deadline.
    public func advance(
        by duration: Duration, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        let caller = Caller(fileID: fileID, line: line)
        // The times of messages have whole milliseconds.
        var left = Duration.milliseconds(duration.milliseconds)
        while let next = try await timers.next(after: clock.date, on: bus, in: messages), next < left {
            clock.advance(by: next)
            left -= next
            try await rest(caller)
        }
        clock.advance(by: left)
        try await rest(caller)
    }

    // MARK: What a user sees

    /// The top screen of the app's only platform, with its arguments: `cup(kind: lungo)`.
    /// - Throws: ``StackFailure`` if the app has not exactly one platform.
    public var screen: String {
        get async throws {
            guard flows.count == 1 else {
                throw failure("the app has \(flows.count) platforms: use screen(on:)", at: creator)
            }
            return try await screen(on: flows[0].platform, fileID: creator.fileID, line: creator.line)
        }
    }

    /// The top screen of a platform, with its arguments: `cup(kind: lungo)`.
    /// - Throws: ``StackFailure`` if there is no state of the platform in the session.
    public func screen(
        on platform: String, of session: String = Session.default, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> String {
        try await state(of: platform, in: session, fileID: fileID, line: line).top.text
    }

    /// The state of a platform.
    /// - Throws: ``StackFailure`` if there is none in the session.
    public func state(
        of platform: String, in session: String = Session.default, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> NavigationState {
        let document = try await bus.document(Document.NavigationState.self, subject: session, key: platform)
        guard let document else {
            throw failure("there is no state of \(platform)", at: Caller(fileID: fileID, line: line), session: session)
        }
        return document.snapshot.state
    }

    // MARK: At rest

    /// Waits until the app is at rest.
    private func rest(_ caller: Caller) async throws {
        let changes = await hub.changes()
        let unrest = Unrest()
        try await within(deadline) { [self] in
            if unrest.record(try await reasonOfUnrest()) { return }
            for await _ in changes {
                if unrest.record(try await reasonOfUnrest()) { return }
            }
            throw CancellationError()
        } orThrow: { [self] beginning in
            failure("\(beginning) the app to be at rest: \(unrest.reason)", at: caller)
        }
    }

    /// The last known reason why an app is not at rest.
    private final class Unrest: Sendable {
        private let last = Mutex("it has just begun to wait")

        var reason: String { last.withLock(\.self) }

        /// - Returns: True if there is no reason.
        func record(_ reason: String?) -> Bool {
            if let reason { last.withLock { $0 = reason } }
            return reason == nil
        }
    }

    /// Nil if the app is at rest.
    private func reasonOfUnrest() async throws -> String? {
        let end = try await bus.inspect.end()
        for (consumer, types) in receives {
            let count = await hub.unhandledCount(of: types, by: consumer)
            if count > 0 { return "\(consumer) has messages to handle: \(count)" }
        }
        // What follows from a recorded message is recorded too, but may not have been delivered to the test.
        try await transcript.first { messages in
            messages.last { $0.position != nil }?.position?.offset ?? 0 >= end.offset ? () : nil
        }
        if let due = try await timers.due(at: clock.date, on: bus, in: messages) {
            return "\(due.type) \(due.key ?? "") is due"
        }
        return try await bus.inspect.end() == end ? nil : "messages are published"
    }
}
