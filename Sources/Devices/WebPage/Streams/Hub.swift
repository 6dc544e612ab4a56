package import SignIn
internal import Support

/// All streams of a gateway, and the state of the bus that they show.
package actor Hub {
    /// The number of streams.
    static let capacity = PageCapacity(all: 64, forOperators: 8, ofSession: 8)

    private struct Stream {
        var stream: PageStream
        /// The number of the connection that may take events. Connections with other numbers have been replaced.
        var connection = 0
        let signal = StreamSignal()
    }

    /// A connection of a stream.
    struct Connection: Sendable {
        let stream: StreamName
        fileprivate let number: Int
        /// Yields an element when there may be something to send. It ends when another connection replaces this one.
        let wakes: AsyncStream<Void>
    }

    /// The parts of `hello` that do not change.
    package struct Identity: Sendable {
        /// A random text that distinguishes the ids of this process from those of others.
        package let run: String
        package let stack: String
        package let isReadOnly: Bool

        package init(run: String, stack: String, isReadOnly: Bool) {
            self.run = run
            self.stack = stack
            self.isReadOnly = isReadOnly
        }
    }

    package nonisolated let identity: Identity
    private let now: @Sendable () -> Duration
    private var streams: [StreamName: Stream] = [:]
    private var lastConnection = 0
    /// True if the bus answered the last attempt to reach it.
    package private(set) var isBusConnected = true
    private var isClosed = false

    /// - Parameter now: Returns the time since any fixed instant.
    package init(_ identity: Identity, now: @escaping @Sendable () -> Duration) {
        self.identity = identity
        self.now = now
    }

    package var streamCount: Int { streams.count }

    func setConnected(_ connected: Bool) {
        guard connected != isBusConnected else { return }
        isBusConnected = connected
        for name in streams.keys {
            streams[name]?.stream.setBus(busState)
            streams[name]?.signal.wake()
        }
    }

    private var busState: String { isBusConnected ? "connected" : "away" }

    /// Removes streams that have ended, and wakes silent connections.
    func tick() {
        let now = now()
        for (name, stream) in streams where stream.stream.isOver(at: now) { remove(name) }
        for stream in streams.values { stream.signal.wake() }
    }

    private func remove(_ name: StreamName) {
        streams[name]?.stream.closeViews()
        streams[name] = nil
    }

    // MARK: Connections

    /// Begins a connection of a stream. It replaces the stream's earlier connection.
    /// - Parameter greeting: The members of the first event from the features of the page.
    /// - Throws: ``RequestError`` if there are too many streams.
    func connect(
        _ name: StreamName, lastEventID: String?, greeting: [String: JSONValue] = [:]
    ) throws(RequestError) -> Connection {
        if streams[name] == nil {
            makeRoom(for: name.access)
            guard hasRoom(for: name.access), !isClosed else {
                throw Self.capacity.error("streams", "close a page")
            }
            streams[name] = Stream(stream: PageStream(run: identity.run, now: now()))
        }
        lastConnection += 1
        let wakes = streams[name]?.signal.connect() ?? AsyncStream { $0.finish() }
        streams[name]?.connection = lastConnection
        let hello: [String: JSONValue] = [
            "gateway": .string(identity.run), "stack": .string(identity.stack),
            "readOnly": .bool(identity.isReadOnly), "bus": .string(busState),
            "session": name.access.session.map(JSONValue.string) ?? .null,
        ]
        _ = streams[name]?.stream.connect(
            lastEventID: lastEventID, hello: hello.merging(greeting) { own, _ in own }, now: now())
        return Connection(stream: name, number: lastConnection, wakes: wakes)
    }

    private func hasRoom(for access: PageAccess) -> Bool {
        Self.capacity.hasRoom(
            for: access, beside: streams.keys.reduce(into: [:]) { $0[$1.access, default: 0] += 1 })
    }

    /// Removes the stream that has been without a connection for the longest time, if there is no room for another one.
    /// A session's stream replaces none of other browsers.
    private func makeRoom(for access: PageAccess) {
        guard !hasRoom(for: access) else { return }
        let ended = streams.filter {
            $0.value.stream.end != nil && (access == .operator || $0.key.access == access)
        }
        if let oldest = ended.min(by: { ($0.value.stream.end ?? .zero) < ($1.value.stream.end ?? .zero) }) {
            remove(oldest.key)
        }
    }

    /// The next step of a connection. Nil if another one has replaced it.
    func step(_ connection: Connection) -> PageStream.Step? {
        guard !isClosed, streams[connection.stream]?.connection == connection.number else { return nil }
        return streams[connection.stream]?.stream.step(at: now())
    }

    func disconnect(_ connection: Connection) {
        guard streams[connection.stream]?.connection == connection.number else { return }
        streams[connection.stream]?.stream.disconnect(now: now())
        streams[connection.stream]?.signal.disconnect()
    }

    /// Ends all connections and views, because the gateway stops.
    func close() {
        isClosed = true
        for name in streams.keys {
            streams[name]?.signal.disconnect()
            streams[name]?.stream.closeViews()
        }
    }

    // MARK: Views

    /// Opens a view. It replaces an earlier view with the same name.
    /// - Throws: ``RequestError`` if the stream is unknown, or has too many views. The view is then closed.
    package func open(_ view: any StreamView, as name: ViewName) throws(RequestError) {
        do throws(RequestError) {
            guard !isClosed else { throw .busy("the gateway stops") }
            let signal = try signal(for: name)
            view.open(signal)
            streams[name.stream]?.stream.open(name.id, view)
            signal.wake()
        } catch {
            view.close()
            throw error
        }
    }

    /// The signal of the stream in which a view can be opened.
    private func signal(for name: ViewName) throws(RequestError) -> StreamSignal {
        guard let found = streams[name.stream] else { throw .noStream(name.stream) }
        guard found.stream.view(name.id) != nil || found.stream.viewCount < PageStream.viewLimit else {
            throw .busy("a stream has at most \(PageStream.viewLimit) views")
        }
        return found.signal
    }

    func close(_ name: ViewName) throws(RequestError) {
        guard streams[name.stream] != nil else { throw .noStream(name.stream) }
        streams[name.stream]?.stream.close(name.id)
    }

    /// Closes a view, unless the page has closed or replaced it meanwhile.
    package func close(_ view: any StreamView, named name: ViewName) {
        guard self.view(name) === view else { return }
        streams[name.stream]?.stream.close(name.id)
    }

    /// The view with a name. Nil if there is none.
    package func view(_ name: ViewName) -> (any StreamView)? { streams[name.stream]?.stream.view(name.id) }

    /// True if a stream that has a connection shows one of the views.
    package func isShown(oneOf views: [any StreamView]) -> Bool {
        streams.values.contains { $0.stream.isConnected && $0.stream.has(oneOf: views) }
    }
}

/// The name of a stream: the id that a page has chosen, and the part of the page that its browser may use. So a browser
/// cannot name the stream of one that may use another part.
package struct StreamName: Hashable, Sendable {
    package let id: String
    package let access: PageAccess

    package init(_ id: String, for access: PageAccess) {
        self.id = id
        self.access = access
    }
}

/// The id of a view, and the name of its stream.
package struct ViewName: Hashable, Sendable {
    package let stream: StreamName
    package let id: String

    package init(stream: StreamName, id: String) {
        self.stream = stream
        self.id = id
    }
}

extension RequestError {
    fileprivate static func noStream(_ name: StreamName) -> Self { .notFound("there is no stream '\(name.id)'") }
}
