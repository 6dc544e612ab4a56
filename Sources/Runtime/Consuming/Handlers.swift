internal import Contracts
public import EventBus
internal import Foundation
internal import Support

/// The handlers of one durable consumer, and the answers to queries: a value that needs no bus. Each `on` adds a
/// handler:
///
///     let greeter = Handlers("greeter")
///         .on(Command.GuestArrived.self, sends: DomainEvent.GuestWelcomed.self) { command, context in
///             [DomainEvent.GuestWelcomed(text: "Welcome, \(command.name)!")]
///         }
///         .on(Command.GuestLeft.self, sends: Document.GuestBook.self) { _, _ in [.withdrawn(Document.GuestBook.self)] }
///
/// The messages that a handler returns are published in one batch with the consumer's progress. After a crash the
/// handler may be called again for the same message. The cases are:
///
/// - If the handler returns, its results are published. If one of them is of a type that the handler does not declare
///   to send, none is published: the message is moved to the dead letters, with the code `<service>.invalid`.
/// - If the handler throws an `ApplicationError`, that error is published, unless the message is an error itself. It is
///   a final answer; there is no retry.
/// - If the handler throws another error, except an error of the bus such as `unavailable`, it is called again after
///   delays, see ``RetryPolicy``. After the last attempt the message is moved to the dead letters, with the code
///   `<service>.failed`.
/// - If the header cannot be read, or the data of a message that has not expired does not match the type, the message
///   is moved to the dead letters at once, with the code `message.malformed`.
/// - If the bus refuses the results, the message is moved to the dead letters at once, with the code
///   `<service>.refused`.
/// - If the message is a command that has expired, an `event.MessageDiscarded` and the error `command.expired` are
///   published. For a view's report and for the dismissal of a banner, there is no such error.
/// - If the message is a command of a view whose session has ended, an `event.MessageDiscarded` is published, see
///   ``discardingCommandsOfEndedSessions()``.
/// - If the message was sent again to another consumer only, or withdraws a document, nothing is published.
///
/// A dead letter comes with an `ApplicationError` of the same code, unless the message is an error itself or the bus
/// refuses this error. An error that is not an `ApplicationError` is logged and not published.
///
/// A handler may publish a message before it ends, for example a document that says `loading`. Give such a handler the
/// messages that replace it (`whenGivenUp`). They are published if the handler throws an `ApplicationError` or fails in
/// its last attempt, if the bus refuses the handler's results, and if a command that can be decoded has expired.
///
/// Messages of one session are handled in order, so a slow handler holds up the messages after it. Work for which no
/// later message has to wait runs beside the loop, see ``work(recordedBy:of:sends:begin:work:)``.
///
/// When a session ends, its documents of the declared types are withdrawn, see ``onSessionEnded(_:)``.
///
/// ``HandlerService`` runs handlers on a bus. Services with the same consumer name share the work: each handles the
/// messages of some sessions, in order.
public struct Handlers: Sendable {
    /// The name of the durable consumer.
    public let name: String
    let retries: RetryPolicy
    private(set) var routes: [MessageType: Route] = [:]
    private(set) var answers: [MessageType: Answer] = [:]
    /// The kinds of work, by the types of the documents that record them.
    private(set) var works: [MessageType: WorkKind] = [:]
    private(set) var discardsCommandsOfEndedSessions = false
    /// Removes what the service has stored for a session.
    private var forget: (@Sendable (MessageContext) async throws -> Void)?
    private var received = DeclaredMessages()
    private var sent = DeclaredMessages()

    /// - Parameters:
    ///   - name: the name of the durable consumer.
    ///   - retries: the number of attempts and the delays between them when a handler fails.
    public init(_ name: String, retries: RetryPolicy = .standard) {
        self.name = name
        self.retries = retries
    }

    // MARK: Adding handlers

    /// Adds a handler.
    /// - Parameters:
    ///   - sent: the messages that the handler publishes. `ApplicationError` and `event.MessageDiscarded` need not be
    ///     declared.
    ///   - whenGivenUp: the messages to publish if the handler throws an error in its last attempt or an
    ///     `ApplicationError`, if the bus refuses its results, and if the command has expired: for example a document
    ///     that replaces the one that says `loading`.
    /// - Precondition: the type has no handler yet.
    public func on<M: Message>(
        _ type: M.Type, sends sent: any Message.Type...,
        whenGivenUp: @escaping @Sendable (M) -> [any HandlerResult] = { _ in [] },
        handle: @escaping @Sendable (M, MessageContext) async throws -> [any HandlerResult]
    ) -> Handlers {
        on(type, sends: sent, whenGivenUp: whenGivenUp, handle: handle)
    }

    /// Adds a handler that sends the messages of a list, see ``on(_:sends:whenGivenUp:handle:)``.
    public func on<M: Message>(
        _ type: M.Type, sends sent: [any Message.Type],
        whenGivenUp: @escaping @Sendable (M) -> [any HandlerResult] = { _ in [] },
        handle: @escaping @Sendable (M, MessageContext) async throws -> [any HandlerResult]
    ) -> Handlers {
        adding(type, Route(type, sends: sent, whenGivenUp: whenGivenUp, handle: handle))
    }

    /// Adds a handler of a message that ends work in the session, for example because the account that the work needs
    /// has been disconnected.
    ///
    /// The message that began the work is discarded with an `event.MessageDiscarded`, and ``WorkRecord/ended`` replaces
    /// the document that records the work.
    /// - Parameters:
    ///   - work: the document that records the work.
    ///   - matches: returns false for a message that ends no work.
    ///   - handle: called after the work has ended.
    /// - Precondition: the type has no handler yet.
    public func on<M: Message, Record: WorkRecord>(
        _ type: M.Type, ending work: Record.Type, when matches: @escaping @Sendable (M) -> Bool = { _ in true },
        sends sent: any Message.Type...,
        handle: @escaping @Sendable (M, MessageContext) async throws -> [any HandlerResult] = { _, _ in [] }
    ) -> Handlers {
        adding(
            type,
            Route(
                type, sends: sent + [Record.self], ends: (Record.type, matches), whenGivenUp: { _ in [] },
                handle: handle))
    }

    /// Adds work that runs beside the loop, for example because it waits for a slow server. Later messages of the
    /// session are handled at the same time.
    ///
    /// A message of the type ``WorkRecord/Trigger`` begins the work. First the document is published that records it,
    /// with the consumer's progress. Then the work runs, if the document says that it is unfinished. Its results are
    /// published in one batch; one of them must replace or withdraw the document, which is otherwise withdrawn with
    /// them. If the process ends before that, the work is started again after the next start or by another process; it
    /// gets a message with the same id.
    ///
    /// A session, or a screen, has one piece of work of each kind: a newer message ends the work of the older one. The
    /// end of the session also ends the work, and so does a message of another type, see
    /// ``on(_:ending:when:sends:handle:)``. A process that has lost the session's partition publishes nothing.
    ///
    /// If the work throws an error, it is called again after delays, as any handler. After the last attempt, an error
    /// is published, and ``WorkRecord/ended`` replaces the document; there is no dead letter.
    /// - Parameters:
    ///   - record: the document that records the work.
    ///   - scope: the session or the screen that the work belongs to. Work of a screen ends when its instance is
    ///     dismissed. A command that names no instance, or one that is not open, is discarded with an
    ///     `event.MessageDiscarded`.
    ///   - sent: the messages that `work` publishes, other than the document.
    ///   - begin: returns the document. If the message only ends earlier work, the document records none. It is called
    ///     in the loop, after the earlier work has ended.
    ///   - work: the work itself. It is cancelled when it is ended.
    /// - Precondition: ``WorkRecord/Trigger`` has no handler yet.
    public func work<Record: WorkRecord>(
        recordedBy record: Record.Type, of scope: WorkScope = .session, sends sent: any Message.Type...,
        begin: @escaping @Sendable (Record.Trigger, MessageContext) async throws -> Record,
        work: @escaping @Sendable (Record.Trigger, MessageContext) async throws -> [any HandlerResult]
    ) -> Handlers {
        precondition(works[Record.type] == nil, "\(Record.type) records work of two kinds")
        let route = Route(
            Record.Trigger.self, sends: sent + [Record.self], begins: Record.type, whenGivenUp: { _ in [] },
            handle: { try await [begin($0, $1)] })
        var handlers = adding(Record.Trigger.self, route)
        handlers.works[Record.type] = WorkKind(
            record, scope: scope, sends: DeclaredMessages(sent + [Record.self]), work: work)
        if scope == .screen { handlers.received.add(DomainEvent.ScreenDismissed.self) }
        return handlers
    }

    /// Adds an answer to a query. Queries are not journalled, and a failed answer is not repeated.
    ///
    /// If the closure throws an error while the answer is still wanted, the error is logged, and the answer is an
    /// `ApplicationError`: the one that was thrown, else one with the code `message.malformed` if the data does not
    /// match the type of the query, else one with the code `<service>.failed`. If the service is asked to stop, the
    /// processes that wait for its answers receive a `BusError` with the code `cancelled`.
    /// - Precondition: the type has no handler yet.
    public func answer<Q: QueryMessage>(
        _ type: Q.Type, _ answer: @escaping @Sendable (Q, MessageContext) async throws -> Q.Answer
    ) -> Handlers {
        precondition(answers[Q.type] == nil, "\(Q.type) has two handlers")
        var handlers = self
        handlers.received.add(type)
        handlers.answers[Q.type] = { context in
            try JSONWriter.data(of: try await answer(context.cause.decode(Q.self), context))
        }
        return handlers
    }

    /// Removes what the service has stored for a session when the session ends.
    ///
    /// The documents of all types that the handlers declare to send are withdrawn in any case.
    /// - Parameter forget: called before the documents are withdrawn; its ``MessageContext/session`` is the session.
    public func onSessionEnded(_ forget: @escaping @Sendable (MessageContext) async throws -> Void) -> Handlers {
        var handlers = self
        handlers.forget = forget
        return handlers
    }

    /// Discards the commands of views whose session has ended, so that their handlers do not publish documents for it
    /// again. A session has ended for a view if there is no `Document.NavigationState` of the view's platform.
    /// Commands that name no platform are handled. The bus is asked once for each command that names a platform.
    public func discardingCommandsOfEndedSessions() -> Handlers {
        var handlers = self
        handlers.discardsCommandsOfEndedSessions = true
        return handlers
    }

    /// Declares messages that the handlers read in another way, for example by a subscription of their own.
    public func reading(_ types: any Message.Type...) -> Handlers {
        var handlers = self
        for type in types { handlers.received.add(type) }
        return handlers
    }

    private func adding(_ type: any Message.Type, _ route: Route) -> Handlers {
        precondition(routes[type.type] == nil, "\(type.type) has two handlers")
        var handlers = self
        handlers.routes[type.type] = route
        handlers.received.add(type)
        for type in route.sends.messages { handlers.sent.add(type) }
        return handlers
    }

    // MARK: Contract

    /// The messages that the handlers receive, in the order in which they were added.
    public var receives: [any Message.Type] {
        var received = received
        if handlesSessionEnd { received.add(DomainEvent.SessionEnded.self) }
        if discardsCommandsOfEndedSessions { received.add(Document.NavigationState.self) }
        return received.messages
    }

    /// The messages that the handlers may publish.
    public var sends: [any Message.Type] {
        guard !routes.isEmpty || !answers.isEmpty else { return [] }
        var sent = sent
        if schedulesCommands { sent.add(Document.ScheduledCommand.self) }
        if !routes.isEmpty { sent.add(DomainEvent.MessageDiscarded.self) }
        sent.add(ApplicationError.self)
        return sent.messages
    }

    /// The types that the handler of each type sends, other than `ApplicationError` and `event.MessageDiscarded`.
    package var sendsByHandler: [MessageType: [MessageType]] {
        routes.mapValues { $0.sends.messages.types }
    }

    /// The types that the durable consumer receives, in alphabetical order. Empty if there are only queries.
    package var consumes: [MessageType] {
        var types = Set(routes.keys)
        if handlesSessionEnd { types.insert(DomainEvent.SessionEnded.type) }
        if works.values.contains(where: { $0.scope == .screen }) { types.insert(DomainEvent.ScreenDismissed.type) }
        return types.sorted { $0.description < $1.description }
    }

    /// The types of the documents that the handlers publish, including the documents of scheduled commands.
    var documents: [MessageType] {
        sent.messages.types.filter { $0.kind == .document }
            + (schedulesCommands ? [Document.ScheduledCommand.type] : [])
    }

    /// True if a handler declares to send a command, which it may also send later.
    var schedulesCommands: Bool { sent.messages.contains { $0.kind == .command } }

    private var handlesSessionEnd: Bool { forget != nil || !documents.isEmpty }

    /// Removes what the service has stored for the session of ``MessageContext/cause``.
    func forgetSession(_ context: MessageContext) async throws { try await forget?(context) }
}

/// The answer to a query: returns its data.
typealias Answer = @Sendable (MessageContext) async throws -> Data

/// Messages that a handler or a service declares, each once, in the order in which they were added.
struct DeclaredMessages: Sendable {
    private(set) var messages: [any Message.Type] = []
    private var types: Set<MessageType> = []

    init(_ messages: [any Message.Type] = []) {
        for message in messages { add(message) }
    }

    mutating func add(_ message: any Message.Type) {
        if types.insert(message.type).inserted { messages.append(message) }
    }

    func contains(_ type: MessageType) -> Bool { types.contains(type) }
}

/// The handler of a message type.
struct Route: Sendable {
    /// A decoded message with its handler.
    struct Call: Sendable {
        let handle: @Sendable () async throws -> [any HandlerResult]
        let whenGivenUp: [any HandlerResult]
        /// The document of the work in the session that ends before ``handle`` is called. Nil for most messages.
        let ends: MessageType?
    }

    /// The messages that the handler declares to send.
    let sends: DeclaredMessages
    /// The document of the work that a message begins. Nil for most messages.
    let begins: MessageType?
    /// Decodes the message.
    /// - Throws: ``BusError`` with the code `malformed`.
    let call: @Sendable (MessageContext) throws -> Call

    init<M: Message>(
        _ type: M.Type, sends: [any Message.Type], begins: MessageType? = nil,
        ends: (record: MessageType, matches: @Sendable (M) -> Bool)? = nil,
        whenGivenUp: @escaping @Sendable (M) -> [any HandlerResult],
        handle: @escaping @Sendable (M, MessageContext) async throws -> [any HandlerResult]
    ) {
        self.sends = DeclaredMessages(sends)
        self.begins = begins
        call = { context in
            let message = try context.cause.decode(M.self)
            let ended = ends.flatMap { $0.matches(message) ? $0.record : nil }
            return Call(
                handle: { try await handle(message, context) }, whenGivenUp: whenGivenUp(message),
                ends: begins ?? ended)
        }
    }
}
