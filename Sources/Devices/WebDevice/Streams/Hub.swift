internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Support

/// All streams of a gateway, and the figures of the bus. It passes each message of the bus to the views that show it.
actor Hub {
    /// The maximum number of streams.
    static let streamLimit = 64
    /// The maximum number of devices of all streams.
    static let deviceLimit = 128
    /// The time for which dead letters are counted after the metrics have been read.
    private static let scrapePatience: Duration = .seconds(300)
    /// The number of offsets beyond the settled one that are remembered, to find messages that are delivered again.
    private static let recentLimit = 65_536

    private struct Stream {
        var stream: PageStream
        /// The number of the connection that may take events. Connections with other numbers have been replaced.
        var connection = 0
        /// True if the connection waits for `wake`.
        var isIdle = false
        var wake: AsyncStream<Void>.Continuation?

        /// Wakes the connection if it waits.
        mutating func wakeUp() {
            guard isIdle else { return }
            isIdle = false
            wake?.yield()
        }
    }

    /// A connection of a stream.
    struct Connection: Sendable {
        let stream: String
        fileprivate let number: Int
        /// Yields an element when there may be something to send. It ends when another connection replaces this one.
        let wakes: AsyncStream<Void>
    }

    /// A view that was opened.
    struct OpenView: Hashable, Sendable {
        let stream: String
        let id: String
        fileprivate let number: Int
    }

    /// The parts of `hello` that do not change.
    struct Identity: Sendable {
        let run: String
        let stack: String
        let isReadOnly: Bool
    }

    private let identity: Identity
    private let now: @Sendable () -> Duration
    private var streams: [String: Stream] = [:]
    private var lastConnection = 0
    private(set) var figures = ProcessFigures()
    /// True if the bus answered the last attempt to reach it.
    private var isConnected = true
    private var deadLetters: Int?
    /// The time at which the metrics were read last. Nil if nobody has read them.
    private var lastScrape: Duration?
    private var transients = RecentTransients()
    private var happenings: HappeningLog
    /// The position after which the subscription continues.
    private var settled: Position?
    /// The offsets beyond `settled` of messages that have been handled.
    private var recent: Set<UInt64> = []
    /// The highest offset that has been handled.
    private var highest: UInt64 = 0
    private var isClosed = false
    /// The number of devices that were opened and have not ended. A device that was closed ends when its messages have
    /// been published.
    private var runningDevices = 0
    /// The devices by their views.
    private var devices: [OpenView: PageDevice] = [:]
    /// The devices that were opened and do not run yet.
    let opened: AsyncStream<PageDevice>
    private let opening: AsyncStream<PageDevice>.Continuation

    /// - Parameter now: Returns the time since any fixed instant.
    init(_ identity: Identity, now: @escaping @Sendable () -> Duration) {
        self.identity = identity
        self.now = now
        happenings = HappeningLog(run: identity.run)
        (opened, opening) = AsyncStream.makeStream(of: PageDevice.self)
    }

    // MARK: The bus

    /// Begins a subscription at the end of the journal.
    /// - Parameter documents: The retained documents about processes, flows, contracts and sessions. They may be newer
    ///   than the end.
    /// - Returns: The position after which the subscription has to start: `end`, or the position up to which the last
    ///   subscription has delivered everything. A journal that ends before that position has lost its last messages, so
    ///   the bus would refuse it for ever.
    func begin(at end: Position, _ documents: [Envelope]) -> Position {
        for document in documents { figures.applyDocument(document) }
        if let settled, settled.epoch == end.epoch, settled.offset <= end.offset { return settled }
        if let settled, settled.epoch != end.epoch { happenings.forgetState() }
        (settled, recent, highest) = (end, [], end.offset)
        // A newer document will come as a message. It is not the state before the message.
        happenings.learn(documents.lazy.filter { ($0.position?.offset ?? 0) <= end.offset })
        return end
    }

    func handle(_ delivery: Delivery) {
        let message = delivery.message
        if let position = message.position {
            guard isNew(position, lowWatermark: delivery.lowWatermark) else { return }
        } else if message.isAboutMetrics {
            return
        } else {
            transients.append(message)
        }
        figures.record(message)
        let happening = happenings.handle(message)
        var row: MessageRow?
        // A loop over the keys would hold the dictionary, so that each change would copy it.
        var index = streams.startIndex
        while index != streams.endIndex {
            streams.values[index].stream.handle(message) {
                if let row { return row }
                let made = MessageRow(message)
                row = made
                return made
            }
            streams.values[index].stream.show(happening, hidden: happenings.hidden)
            streams.values[index].wakeUp()
            streams.formIndex(after: &index)
        }
    }

    /// False if the message was handled before.
    private func isNew(_ position: Position, lowWatermark: UInt64) -> Bool {
        if let settled, settled.epoch == position.epoch {
            guard position.offset > settled.offset, recent.insert(position.offset).inserted else { return false }
            highest = max(highest, position.offset)
            guard lowWatermark > settled.offset else { return true }
        } else {
            if settled != nil { happenings.forgetState() }
            (recent, highest) = ([], position.offset)
        }
        settled = Position(epoch: position.epoch, offset: lowWatermark)
        if lowWatermark >= highest {
            recent.removeAll(keepingCapacity: true)
        } else if recent.count > Self.recentLimit {
            recent = recent.filter { $0 > lowWatermark }
        }
        return true
    }

    func handle(_ notice: SubscriptionNotice) {
        // Nothing is missing on the page.
        if case .recovered = notice { return }
        for id in streams.keys {
            streams[id]?.stream.addNotice(MonitorNotice.lost(notice).description)
            wake(id)
        }
    }

    func setConnected(_ connected: Bool) {
        guard connected != isConnected else { return }
        isConnected = connected
        for id in streams.keys {
            streams[id]?.stream.setBus(busState)
            wake(id)
        }
    }

    var isBusConnected: Bool { isConnected }

    private var busState: String { isConnected ? "connected" : "away" }

    func setDeadLetters(_ count: Int) { deadLetters = count }

    /// True if a page shows the number of dead letters, or if a program reads the metrics.
    var needsDeadLetters: Bool {
        showsProcesses || lastScrape.map { now() - $0 < Self.scrapePatience } ?? false
    }

    private var showsProcesses: Bool { streams.values.contains { $0.stream.showsProcesses } }

    /// The figures for a program that monitors the bus.
    /// - Parameter reports: The metrics of the processes that have reported them, by instance.
    func metrics(_ reports: [String: DomainEvent.MetricsReported], version: String) -> Metrics {
        lastScrape = now()
        return Metrics(
            figures: figures, reports: reports, deadLetters: isConnected ? deadLetters : nil, streams: streams.count,
            isConnected: isConnected, version: version)
    }

    /// The instances of the processes that can be asked for their metrics; empty while the bus is away.
    var askedInstances: Set<String> { isConnected ? figures.instances : [] }

    /// The same while an open page shows the processes; otherwise empty.
    var shownInstances: Set<String> {
        let isOpen = streams.values.contains { $0.stream.showsProcesses && $0.stream.end == nil }
        return isOpen ? askedInstances : []
    }

    /// Replaces the metrics of the running processes.
    func setMetrics(_ reports: [String: DomainEvent.MetricsReported]) {
        figures.setMetrics(reports)
        showProcesses()
    }

    private func showProcesses() {
        guard showsProcesses else { return }
        let values = figures.values(dead: deadLetters).map { ($0.key, Array($0.value.description.utf8)) }
        for id in streams.keys {
            streams[id]?.stream.setProcesses(values)
            wake(id)
        }
    }

    /// A transient message. Nil if it is not known, or if too many others have followed it.
    func transient(_ id: String) -> Envelope? { transients[id] }

    /// Ends a second: updates the views of processes, removes streams that have ended, and wakes silent connections.
    func tick() {
        figures.endSecond()
        let now = now()
        streams = streams.filter { !$0.value.stream.isOver(at: now) }
        stopClosedDevices()
        // Nobody is asked for metrics meanwhile: the next page must not show these.
        if !showsProcesses { figures.setMetrics([:]) }
        showProcesses()
        for id in streams.keys { wake(id) }
    }

    private func wake(_ id: String) {
        streams[id]?.wakeUp()
    }

    // MARK: Connections

    /// Begins a connection of a stream. It replaces the stream's earlier connection.
    /// - Throws: ``RequestError`` if there are too many streams.
    func connect(_ id: String, lastEventID: String?) throws(RequestError) -> Connection {
        if streams[id] == nil {
            makeRoom()
            guard streams.count < Self.streamLimit, !isClosed else {
                throw .busy("there are \(Self.streamLimit) streams; close a page")
            }
            streams[id] = Stream(stream: PageStream(run: identity.run, now: now()))
        }
        lastConnection += 1
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        streams[id]?.wake?.finish()
        streams[id]?.wake = wake
        streams[id]?.connection = lastConnection
        streams[id]?.isIdle = false
        let hello: [String: JSONValue] = [
            "gateway": .string(identity.run), "stack": .string(identity.stack),
            "app": figures.app.map(JSONValue.string) ?? .null, "readOnly": .bool(identity.isReadOnly),
            "bus": .string(busState),
        ]
        _ = streams[id]?.stream.connect(lastEventID: lastEventID, hello: hello, now: now())
        stopClosedDevices()
        return Connection(stream: id, number: lastConnection, wakes: wakes)
    }

    /// Removes the stream that has been without a connection for the longest time, if there is no room for another one.
    private func makeRoom() {
        guard streams.count >= Self.streamLimit else { return }
        let ended = streams.filter { $0.value.stream.end != nil }
        if let oldest = ended.min(by: { ($0.value.stream.end ?? .zero) < ($1.value.stream.end ?? .zero) }) {
            streams[oldest.key] = nil
        }
    }

    /// The next step of a connection. Nil if another one has replaced it.
    func step(_ connection: Connection) -> PageStream.Step? {
        guard !isClosed, streams[connection.stream]?.connection == connection.number,
            let step = streams[connection.stream]?.stream.step(at: now())
        else { return nil }
        streams[connection.stream]?.isIdle = step == .idle
        return step
    }

    func disconnect(_ connection: Connection) {
        guard streams[connection.stream]?.connection == connection.number else { return }
        streams[connection.stream]?.stream.disconnect(now: now())
        streams[connection.stream]?.wake = nil
    }

    /// Ends all connections, because the gateway stops.
    func close() {
        isClosed = true
        for id in streams.keys { streams[id]?.wake?.finish() }
        for device in devices.values { device.stop() }
        opening.finish()
    }

    // MARK: Views

    /// Opens a view.
    /// - Throws: ``RequestError`` if the stream is unknown, or has too many views.
    func open(_ view: PageStream.View, id: String, on stream: String) throws(RequestError) -> OpenView {
        guard let found = streams[stream]?.stream else { throw .notFound("there is no stream '\(stream)'") }
        guard found.has(id) || found.viewCount < PageStream.viewLimit else {
            throw .busy("a stream has at most \(PageStream.viewLimit) views")
        }
        let number = streams[stream]?.stream.open(id, view) ?? 0
        stopClosedDevices()
        if view.processes != nil {
            let values = figures.values(dead: deadLetters).map { ($0.key, Array($0.value.description.utf8)) }
            streams[stream]?.stream.setProcesses(values)
        }
        wake(stream)
        return OpenView(stream: stream, id: id, number: number)
    }

    /// Opens a view of happenings, which begins with those that are kept.
    func openHappenings(_ id: String, on stream: String) throws(RequestError) {
        _ = try open(.init(happenings: HappeningsView(happenings)), id: id, on: stream)
    }

    func close(_ id: String, on stream: String) throws(RequestError) {
        guard streams[stream] != nil else { throw .notFound("there is no stream '\(stream)'") }
        streams[stream]?.stream.close(id)
        stopClosedDevices()
    }

    /// Closes a view, unless the page has closed or replaced it meanwhile.
    func close(_ view: OpenView) {
        guard streams[view.stream]?.stream.number(of: view.id) == view.number else { return }
        streams[view.stream]?.stream.close(view.id)
        stopClosedDevices()
    }

    /// Opens a device.
    /// - Parameter make: Makes the device from a function that changes what the page is to be sent.
    /// - Throws: ``RequestError`` if the stream is unknown, or if there are too many views or devices.
    func openDevice(
        _ id: String, on stream: String,
        _ make: (@escaping @Sendable (@Sendable (inout DeviceUpdates) -> Void) async -> Void) -> PageDevice
    ) throws(RequestError) {
        guard runningDevices < Self.deviceLimit else {
            throw .busy("there are \(Self.deviceLimit) devices; close some of them")
        }
        let view = try open(.init(device: DeviceUpdates()), id: id, on: stream)
        let device = make { [weak self] change in await self?.change(view, change) }
        devices[view] = device
        runningDevices += 1
        opening.yield(device)
    }

    /// Makes room for another device.
    func deviceHasEnded() {
        runningDevices -= 1
    }

    /// The device of a view.
    /// - Throws: ``RequestError`` if there is none.
    func device(_ id: String, on stream: String) throws(RequestError) -> PageDevice {
        guard let number = streams[stream]?.stream.number(of: id),
            let device = devices[OpenView(stream: stream, id: id, number: number)]
        else { throw .notFound("there is no device '\(id)' in the stream '\(stream)'") }
        return device
    }

    private func change(_ view: OpenView, _ change: (inout DeviceUpdates) -> Void) {
        streams[view.stream]?.stream.change(view.id, number: view.number) { view in
            // Taken out of the view, so that the change does not copy it.
            guard var updates = view.device.take() else { return }
            change(&updates)
            view.device = updates
        }
        wake(view.stream)
    }

    private func stopClosedDevices() {
        for (view, device) in devices where streams[view.stream]?.stream.number(of: view.id) != view.number {
            device.stop()
            devices[view] = nil
        }
    }

    func setHistory(of view: OpenView, _ rows: [MessageRow], end: Position) {
        streams[view.stream]?.stream.change(view.id, number: view.number) {
            $0.messages?.setHistory(rows, end: end)
        }
        wake(view.stream)
    }
}
