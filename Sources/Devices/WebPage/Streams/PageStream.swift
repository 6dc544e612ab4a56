internal import DequeModule
internal import Support

/// The state of a stream: its views, and the events that wait for its connection. It has no clock and no socket.
///
/// A stream outlives its connection. While it has none, updates are merged, and the next connection receives them.
struct PageStream: Sendable {
    /// The maximum number of views.
    static let viewLimit = 64
    /// The time after which a connection without events receives a comment.
    static let silence: Duration = .seconds(15)
    /// The time for which a stream without a connection is kept.
    static let patience: Duration = .seconds(60)

    /// The next step of a connection.
    enum Step: Equatable {
        case send([UInt8])
        /// Nothing may be sent before this time has passed.
        case wait(Duration)
        /// There is nothing to send.
        case idle
    }

    private var views: [String: any StreamView] = [:]
    /// The ids of the views, in the order in which they are asked for updates.
    private var order: Deque<String> = []
    private var sent: SentEvents
    private var budget = SendBudget()
    /// The events for the connection that was made last: `hello`, and events that the earlier connection may have lost.
    private var greeting: Deque<[UInt8]> = []
    private var bus: String?
    private var lastSending: Duration = .zero
    /// The time at which the last connection ended, or began without having taken a step. Nil while there is a
    /// connection.
    private var disconnection: Duration?

    init(run: String, now: Duration) {
        sent = SentEvents(run: run)
        disconnection = now
    }

    // MARK: Connections

    /// Begins a connection.
    /// - Parameters:
    ///   - lastEventID: The id of the last event that the page has received. Nil for a new page.
    ///   - hello: The members of the first event, without `resumed`.
    /// - Returns: True if the connection continues the one before. If it is false, the stream has no views.
    mutating func connect(lastEventID: String?, hello: [String: JSONValue], now: Duration) -> Bool {
        let missed = lastEventID.flatMap { sent.events(after: $0) }
        if missed == nil {
            closeViews()
        }
        let id = missed == nil ? sent.lastID : lastEventID ?? sent.lastID
        var hello = hello
        hello["resumed"] = .bool(missed != nil)
        let first = SentEvents.event("hello", id: id, data: Array(JSONValue.object(hello).description.utf8))
        greeting = Deque([first] + (missed ?? []))
        // A state of the bus that waits is sent after the missed events, which may contain an older one.
        // A browser may go before its connection has taken a step; then nothing else reports the end.
        disconnection = now
        lastSending = now
        return missed != nil
    }

    mutating func disconnect(now: Duration) {
        disconnection = now
        greeting = []
    }

    var isConnected: Bool { disconnection == nil }

    /// The time at which the last connection ended. Nil while there is a connection.
    var end: Duration? { disconnection }

    func isOver(at now: Duration) -> Bool {
        disconnection.map { now - $0 >= Self.patience } ?? false
    }

    // MARK: Views

    var viewCount: Int { views.count }

    /// Opens a view. A view with the same id is replaced.
    mutating func open(_ id: String, _ view: any StreamView) {
        close(id)
        views[id] = view
        order.append(id)
    }

    mutating func close(_ id: String) {
        guard let view = views.removeValue(forKey: id) else { return }
        order.removeAll { $0 == id }
        view.close()
    }

    mutating func closeViews() {
        for id in order { close(id) }
    }

    /// The view with an id. Nil if there is none.
    func view(_ id: String) -> (any StreamView)? { views[id] }

    func has(oneOf views: [any StreamView]) -> Bool {
        self.views.values.contains { own in views.contains { $0 === own } }
    }

    /// Tells the page that the bus has gone or come back.
    mutating func setBus(_ state: String) {
        bus = state
    }

    // MARK: Sending

    /// The next step of the connection.
    mutating func step(at now: Duration) -> Step {
        disconnection = nil
        if let event = greeting.popFirst() { return send(event, at: now) }
        if let state = bus {
            bus = nil
            return send(sent.add("bus", data: Array(#"{"bus":"\#(state)"}"#.utf8)), at: now)
        }
        guard views.values.contains(where: { $0.hasNews }) else {
            guard now - lastSending >= Self.silence else { return .idle }
            return send(Array(": alive\n\n".utf8), at: now)
        }
        let pause = budget.wait(at: now)
        guard pause == .zero else { return .wait(pause) }
        return send(sent.add("update", data: dequeueUpdate()), at: now)
    }

    private mutating func send(_ bytes: [UInt8], at now: Duration) -> Step {
        budget.spend(bytes.count, at: now)
        lastSending = now
        return .send(bytes)
    }

    /// Removes and returns the changes of the views. If there are too many bytes, the next update begins with the views
    /// whose changes are left.
    private mutating func dequeueUpdate() -> [UInt8] {
        var left = budget.available
        var updates = ObjectText()
        for _ in 0..<order.count where left > 0 {
            guard let id = order.popFirst() else { break }
            order.append(id)
            guard let update = views[id]?.dequeueUpdate(size: left) else { continue }
            updates.add(id, update)
            left -= update.count
        }
        var event = ObjectText()
        event.add("views", updates.closed)
        return event.closed
    }
}
