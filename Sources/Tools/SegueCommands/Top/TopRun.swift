internal import Compose
internal import Contracts
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

/// Runs `segue top` on a terminal: passes keys and facts to its view, and carries out the view's actions.
///
/// Each action has a task of its own, so no key waits for the bus or the supervisor.
struct TopRun: Sendable {
    let bus: EventBus
    /// The project that has named the bus. Nil if none has.
    let project: Project?
    /// The session whose screens are shown.
    let session: String
    let monitor: Monitor
    let interval: Duration

    /// The number of lines of a log that are read, and the length of a line that is shown, in Unicode scalars.
    private static let (logLength, logWidth) = (500, 1_000)
    /// The maximum number of messages that wait for the view; of more, the oldest are not shown.
    private static let messageLimit = 1_000
    /// The time between two readings of the project's status.
    private static let projectInterval: Duration = .seconds(1)

    /// Runs until `q` is pressed, the bus is closed or the task is cancelled.
    func run() async throws {
        let screen = TopScreen(TopView(project: project?.name, session: session))
        // A message is counted before the view handles it, so that drawing does not delay the next one.
        let (messages, newMessages) = AsyncStream.makeStream(
            of: Envelope.self, bufferingPolicy: .bufferingNewest(Self.messageLimit))
        let statistics = StatisticsRun(
            bus: bus, monitor: monitor, interval: interval, isOnce: false, display: screen,
            onMessage: { newMessages.yield($0) })
        try await FullScreen(output: .output).run(isEnd: { await screen.handle($0) }, redraw: screen.draw) {
            try await screen.draw()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    var happenings = Happenings()
                    try await happenings.learnPresent(of: bus, session: session)
                    await screen.handle(.learnt(happenings))
                    try await statistics.run()
                }
                group.addTask {
                    for await message in messages { await screen.handle(.message(message)) }
                    try Task.checkCancellation()
                }
                group.addTask { try await readDocuments(for: screen) }
                group.addTask { try await screen.drawChanges() }
                group.addTask { try await perform(screen.actions, for: screen) }
                if let project { group.addTask { try await readStatus(of: project, for: screen) } }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func readDocuments(for screen: TopScreen) async throws {
        let filters: [MessageFilter] = [
            .type(Document.Presence.self), .type(Document.Flow.self),
            .type(Document.NavigationState.self, subject: session),
        ]
        try await bus.withSubscription(to: filters, from: .retained) { messages in
            for try await message in messages { await screen.handle(.document(message)) }
        }
    }

    private func readStatus(of project: Project, for screen: TopScreen) async throws {
        let start = ContinuousClock.now
        while true {
            do {
                let status = try await project.status()
                let services = status?.services ?? []
                let usage = await project.usage(of: services)
                let isSupervised = status?.isSupervisorAlive ?? false
                let instances = services.map { service in
                    TopInstance(
                        ServiceRow(service, isSupervised: isSupervised, usage: usage[service.name]),
                        pids: usage[service.name]?.pids ?? [])
                }
                await screen.handle(.instances(instances, at: ContinuousClock.now - start))
            } catch let error as ComposeError {
                await screen.handle(.notice(Self.line(error)))
            }
            try await Task.sleep(for: Self.projectInterval)
        }
    }

    private func perform(_ actions: AsyncStream<TopView.Action>, for screen: TopScreen) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for await action in actions {
                group.addTask {
                    switch action {
                    case .end: break
                    case .restart(let instance): await restart(instance, for: screen)
                    case .read(let subject): await screen.handle(.content(content(of: subject), of: subject))
                    }
                }
            }
            try Task.checkCancellation()
        }
    }

    /// Restarts an instance as `segue restart` does.
    private func restart(_ instance: String, for screen: TopScreen) async {
        guard let project else { return }
        let control = StackControl(project: project) { lines in
            for line in lines { await screen.handle(.notice(line)) }
        }
        do {
            let request = ControlRequest.restart(services: [instance], followed: true, grace: nil)
            guard try await !control.perform(request) else { return }
            await screen.handle(.notice("project '\(project.name)' has no supervisor; 'segue up' starts one"))
        } catch {
            await screen.handle(.notice(Self.line(error)))
        }
    }

    /// The lines of a page; for an error, its line.
    private func content(of subject: TopPage.Subject) async -> [StyledText] {
        do {
            switch subject {
            case .log(let instance): return try await log(of: instance)
            case .story: return try await newestStory()
            case .deadLetters:
                let summaries = try await DeadListCommand.summaries(of: nil, on: bus)
                let lines = summaries.isEmpty ? [DeadListCommand.emptyText] : Table(of: summaries).lines
                return lines.map { StyledText($0) }
            case .keys: return []
            }
        } catch {
            return [StyledText(Self.line(error))]
        }
    }

    private func log(of instance: String) async throws -> [StyledText] {
        guard let project else { return [] }
        let printer = LogPrinter(services: [instance], style: LogPrinter.Style(hasPrefix: false))
        var lines: [StyledText] = []
        for await line in try project.logs(of: [instance], last: Self.logLength) {
            lines.append(printer.text(of: line, limit: Self.logWidth))
        }
        return lines
    }

    private func newestStory() async throws -> [StyledText] {
        let (story, notice) = try await TraceCommand.newest(StoryFinder(bus: bus))
        let text = StoryText(story, columns: Console.output.columns.map { $0 - 1 })
        return text.lines + text.end + (notice.map { [StyledText($0)] } ?? [])
    }

    private static func line(_ error: any Error) -> String {
        Failure(error)?.lines.joined(separator: " ") ?? "\(error)"
    }
}

/// The terminal of `segue top`: keeps the view, and draws it.
actor TopScreen: StatisticsView {
    /// The actions of the view, except the end.
    nonisolated let actions: AsyncStream<TopView.Action>
    private let newActions: AsyncStream<TopView.Action>.Continuation
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation
    private let output: Console
    private var view: TopView

    init(_ view: TopView, output: Console = .output) {
        self.view = view
        self.output = output
        (actions, newActions) = AsyncStream.makeStream()
        // Several changes before the next drawing are drawn together.
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// - Returns: True if the key ends the view.
    func handle(_ key: KeyPress) -> Bool { handle(.key(key)) }

    /// Passes an input to the view, which is drawn soon.
    /// - Returns: True if the view has ended.
    @discardableResult
    func handle(_ input: TopView.Input) -> Bool {
        let wanted = view.handle(input)
        for action in wanted where action != .end { newActions.yield(action) }
        changed.yield()
        return wanted.contains(.end)
    }

    func show(_ report: StatisticsReport) async throws {
        handle(.report(report))
        try await draw()
    }

    /// Draws the view after changes, at most 20 times a second, until the task is cancelled.
    func drawChanges() async throws {
        for await _ in changes {
            try await draw()
            try await Task.sleep(for: .milliseconds(50))
        }
        try Task.checkCancellation()
    }

    func draw() async throws {
        let size = output.size
        // The last column stays empty: after a character in it, some terminals would clear it with the rest of the
        // line.
        let columns = size.map { max(1, $0.columns - 1) }
        if let columns, let rows = size?.rows { _ = view.handle(.size(columns: columns, rows: rows)) }
        let isColored = output.isColored
        let lines = view.lines.map { $0.rendered(isColored: isColored, columns: columns) + TerminalCode.clearLine }
        try await output.draw(TerminalCode.home + lines.joined(separator: "\n") + TerminalCode.clearBelow)
    }
}
