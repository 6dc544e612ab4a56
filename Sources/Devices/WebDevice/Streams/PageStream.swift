internal import DequeModule
internal import EventBus
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

    /// A view of one of four kinds: one of the properties is set. They are not the cases of an enum, because a case
    /// cannot be changed in place: each change would copy its collections.
    struct View: Sendable {
        var messages: MessagesView?
        var happenings: HappeningsView?
        var processes: ChangedValues?
        var device: DeviceUpdates?

        var hasNews: Bool {
            messages?.hasNews ?? happenings?.hasNews ?? device?.hasNews ?? processes.map { !$0.isEmpty } ?? false
        }

        /// Removes and returns the changes as a JSON object. Nil if there are none.
        /// - Parameter size: The number of bytes that the object should have at most.
        mutating func dequeueUpdate(size: Int) -> [UInt8]? {
            guard hasNews else { return nil }
            if let changes = processes?.drain() {
                var update = ObjectText()
                for (key, value) in changes { update.add(key, value) }
                return update.closed
            }
            return messages?.dequeueUpdate(size: size) ?? happenings?.dequeueUpdate(size: size)
                ?? device?.dequeueUpdate()
        }
    }

    private struct Entry {
        /// Distinguishes this view from an earlier one with the same id.
        let number: Int
        var view: View
    }

    private var entries: [String: Entry] = [:]
    /// The ids of the views, in the order in which they are asked for updates.
    private var order: Deque<String> = []
    private var lastNumber = 0
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
            (entries, order) = ([:], [])
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

    var viewCount: Int { entries.count }

    /// Opens a view. A view with the same id is replaced.
    /// - Returns: The number of the view.
    @discardableResult
    mutating func open(_ id: String, _ view: View) -> Int {
        close(id)
        lastNumber += 1
        entries[id] = Entry(number: lastNumber, view: view)
        order.append(id)
        return lastNumber
    }

    mutating func close(_ id: String) {
        if entries.removeValue(forKey: id) != nil { order.removeAll { $0 == id } }
    }

    func has(_ id: String) -> Bool { entries[id] != nil }

    /// The number of a view. Nil if there is no view with this id.
    func number(of id: String) -> Int? { entries[id]?.number }

    /// Changes a view, unless it was closed or replaced.
    mutating func change(_ id: String, number: Int, _ change: (inout View) -> Void) {
        guard var entry = entries.removeValue(forKey: id) else { return }
        if entry.number == number { change(&entry.view) }
        entries[id] = entry
    }

    /// Passes a message to the views of messages.
    mutating func handle(_ message: Envelope, _ row: () -> MessageRow) {
        for id in order { entries[id]?.view.messages?.handle(message, row) }
    }

    /// Passes what a message has changed to the views of happenings.
    mutating func show(_ happening: HappeningRow?, hidden: Int) {
        for id in order { entries[id]?.view.happenings?.show(happening, hidden: hidden) }
    }

    mutating func addNotice(_ text: String) {
        for id in order {
            entries[id]?.view.messages?.addNotice(text)
            entries[id]?.view.happenings?.addNotice(text)
        }
    }

    var showsProcesses: Bool { entries.values.contains { $0.view.processes != nil } }

    /// Sets the values of the views of processes.
    mutating func setProcesses(_ values: [(key: String, value: [UInt8])]) {
        for id in order {
            for (key, value) in values { entries[id]?.view.processes?.set(key, value) }
        }
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
        guard order.contains(where: { entries[$0]?.view.hasNews ?? false }) else {
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
        var views = ObjectText()
        for _ in 0..<order.count where left > 0 {
            guard let id = order.popFirst() else { break }
            order.append(id)
            guard let update = entries[id]?.view.dequeueUpdate(size: left) else { continue }
            views.add(id, update)
            left -= update.count
        }
        var event = ObjectText()
        event.add("views", views.closed)
        return event.closed
    }
}
