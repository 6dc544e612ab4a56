internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Support
internal import WebPage

/// The figures of the bus, and the open views of the inspector. It handles each message of the bus once: it counts the
/// message, and passes it to the views that show it.
actor BusObserver {
    /// The time for which dead letters are counted after the metrics have been read.
    private static let scrapePatience: Duration = .seconds(300)
    /// The number of offsets beyond the settled one that are remembered, to find messages that are delivered again.
    private static let recentLimit = 65_536

    private(set) var figures = ProcessFigures()
    private var deadLetters: Int?
    /// The time at which the metrics were read last. Nil if nobody has read them.
    private var lastScrape: ContinuousClock.Instant?
    private var transients = RecentTransients()
    private var happenings: HappeningLog
    /// The position after which the subscription continues.
    private var settled: Position?
    /// The offsets beyond `settled` of messages that have been handled.
    private var recent: Set<UInt64> = []
    /// The highest offset that has been handled.
    private var highest: UInt64 = 0
    private var messageViews: [PageView<MessagesView>] = []
    private var happeningViews: [PageView<HappeningsView>] = []
    private var processViews: [PageView<ProcessesView>] = []

    /// - Parameter run: A random text that distinguishes the ids of this process from those of others.
    init(run: String) {
        happenings = HappeningLog(run: run)
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
        for view in messageViews {
            view.change { view in
                view.handle(message) {
                    if let row { return row }
                    let made = MessageRow(message)
                    row = made
                    return made
                }
            }
        }
        let hidden = happenings.hidden
        for view in happeningViews { view.change { $0.show(happening, hidden: hidden) } }
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
        let text = MonitorNotice.lost(notice).description
        for view in messageViews { view.change { $0.addNotice(text) } }
        for view in happeningViews { view.change { $0.addNotice(text) } }
    }

    /// A transient message. Nil if it is not known, or if too many others have followed it.
    func transient(_ id: String) -> Envelope? { transients[id] }

    // MARK: Figures

    func setDeadLetters(_ count: Int) { deadLetters = count }

    /// True if a page shows the number of dead letters, or if a program reads the metrics.
    var needsDeadLetters: Bool {
        processViews.contains { !$0.isClosed } || lastScrape.map { .now - $0 < Self.scrapePatience } ?? false
    }

    /// The figures for a program that monitors the bus.
    /// - Parameters:
    ///   - reports: The metrics of the processes that have reported them, by instance.
    ///   - streams: The number of streams of browsers.
    ///   - isConnected: True if the bus answers.
    ///   - version: The version of the gateway.
    func metrics(
        _ reports: [String: DomainEvent.MetricsReported], streams: Int, isConnected: Bool, version: String
    ) -> Metrics {
        lastScrape = .now
        return Metrics(
            figures: figures, reports: reports, deadLetters: isConnected ? deadLetters : nil, streams: streams,
            isConnected: isConnected, version: version)
    }

    /// Replaces the metrics of the running processes.
    func setMetrics(_ reports: [String: DomainEvent.MetricsReported]) {
        figures.setMetrics(reports)
        updateProcesses()
    }

    /// Ends a second in the figures, updates the views of processes, and forgets closed views.
    func endSecond() {
        figures.endSecond()
        forgetClosedViews()
        // Nobody is asked for metrics meanwhile: the next page must not show these.
        if processViews.isEmpty { figures.setMetrics([:]) }
        updateProcesses()
    }

    private func updateProcesses() {
        guard !processViews.isEmpty else { return }
        let values = figures.values(dead: deadLetters)
        for view in processViews { view.change { $0.show(values) } }
    }

    // MARK: Views

    /// The views of processes, for which the metrics are asked.
    var openProcessViews: [PageView<ProcessesView>] { processViews.filter { !$0.isClosed } }

    /// Makes a view of messages, which shows messages from now on.
    /// - Parameter loadsHistory: True if the view begins with rows of the journal.
    func makeMessagesView(_ selection: MessageSelection, loadsHistory: Bool) -> PageView<MessagesView> {
        forgetClosedViews()
        let view = PageView(MessagesView(selection, loadsHistory: loadsHistory))
        messageViews.append(view)
        return view
    }

    /// Makes a view of happenings, which begins with those that are kept.
    func makeHappeningsView() -> PageView<HappeningsView> {
        forgetClosedViews()
        let view = PageView(HappeningsView(happenings))
        happeningViews.append(view)
        return view
    }

    /// Makes a view of processes.
    func makeProcessesView() -> PageView<ProcessesView> {
        forgetClosedViews()
        var state = ProcessesView()
        state.show(figures.values(dead: deadLetters))
        let view = PageView(state)
        processViews.append(view)
        return view
    }

    private func forgetClosedViews() {
        messageViews.removeAll { $0.isClosed }
        happeningViews.removeAll { $0.isClosed }
        processViews.removeAll { $0.isClosed }
    }
}
