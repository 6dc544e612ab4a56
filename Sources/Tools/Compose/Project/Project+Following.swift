package import Foundation
import SystemSupport

extension Project {
    /// How a project is, as its supervisor writes it down, for another process to follow.
    ///
    /// The present status comes first, then the newest after each change; one who is slow misses those between. Ends when
    /// the supervisor has ended, after the last that it wrote.
    ///
    /// - Throws: ``ComposeError`` `watch`; the sequence `status-unreadable`.
    package func statuses() throws(ComposeError) -> some AsyncSequence<ProjectStatus, any Error> & Sendable {
        // Before the first look at the file, so that nothing is written unseen between the two.
        do {
            return ProjectStatuses(project: self, watch: try DirectoryWatch(path: stateDirectory))
        } catch {
            throw .watch(error)
        }
    }

    /// Waits until changes that a supervisor was asked for have come about.
    ///
    /// - Parameters:
    ///   - milestone: how far those must have come that are started.
    ///   - onOutcome: hears of each instance when it has come to something.
    /// - Throws: ``ComposeError``: the first thing that did not come about; `supervisor-ended`.
    package func follow(
        _ changes: [Change], until milestone: Milestone = .ready, onOutcome: (ServiceStatus) async -> Void = { _ in }
    ) async throws {
        var open = changes
        var failure: ComposeError?
        var wasOrderly = false
        for try await status in try statuses() {
            wasOrderly = status.phase == .stopped
            var pending: [Change] = []
            for change in open {
                let outcome = status.outcome(of: change, until: milestone)
                if outcome == .pending { pending.append(change) }
                if outcome == .reached, let instance = status[change.instance] { await onOutcome(instance) }
                failure = failure ?? outcome.error
            }
            open = pending
            if open.isEmpty { break }
        }
        if let failure { throw failure }
        try Task.checkCancellation()
        // With an orderly end of all, what should have ended has.
        guard let left = open.first(where: { !wasOrderly || !$0.isEnding }) else { return }
        throw ended(before: left.instance, was: left.isEnding ? "had ended" : "was up")
    }

    /// Waits until instances are up.
    ///
    /// - Throws: as ``follow(_:onOutcome:)``.
    package func waitUntilUp(_ instances: [String]) async throws {
        try await follow(instances.map { Change(instance: $0, action: .keep, round: 0, reason: nil) })
    }

    /// Waits until instances have ended for good, or one of them.
    ///
    /// - Parameter onEnd: hears of each that has ended.
    /// - Returns: the first that ended.
    /// - Throws: ``ComposeError`` `supervisor-ended`.
    package func waitUntilEnded(
        _ instances: [String], all: Bool, onEnd: (ServiceStatus) async throws -> Void
    ) async throws -> ServiceStatus? {
        var open = instances
        var first: ServiceStatus?
        for try await status in try statuses() {
            for ended in status.services.filter({ open.contains($0.name) && $0.hasEnded }) {
                try await onEnd(ended)
                first = first ?? ended
            }
            open.removeAll { status[$0]?.hasEnded ?? true }
            if open.isEmpty || (first != nil && !all) { return first }
        }
        try Task.checkCancellation()
        throw ended(before: open.first ?? "", was: "was seen to end")
    }

    private func ended(before instance: String, was event: String) -> ComposeError {
        ComposeError(
            code: "supervisor-ended",
            message: "the supervisor of project '\(name)' ended before '\(instance)' \(event)",
            recovery: "its log is \(supervisorLogPath)")
    }

    // MARK: Logs

    func logFiles(of instance: String) -> LogFiles { LogFiles(directory: logDirectory, name: instance) }

    /// What the services have written, in this run of the project and those before, as far back as it is kept.
    ///
    /// - Parameters:
    ///   - services: only these, or instances of services; all if empty.
    ///   - last: how many lines of each to begin with; `nil` is all.
    ///   - period: the times that lines may have.
    ///   - follow: whether to wait for more, through restarts of the services and of the project.
    /// - Throws: ``ComposeError`` when there is no such project or service.
    package func logs(
        of services: [String] = [],
        last: Int? = nil,
        in period: LogPeriod = LogPeriod(),
        follow: Bool = false
    ) throws(ComposeError) -> LogReader {
        try LogReader(
            directory: logDirectory, last: last, in: period, follow: follow, isWanted: try filter(for: services))
    }

    /// What is written from a time on by all services, until the task is cancelled; in a project that was never started,
    /// too.
    ///
    /// - Throws: ``ComposeError`` when the project's folder cannot be made or watched.
    package func logs(since begin: Date) throws(ComposeError) -> LogReader {
        try LogReader(directory: logDirectory, last: nil, in: LogPeriod(since: begin), follow: true)
    }

    /// What one instance has written so far, without waiting for anything.
    package func writtenLines(of instance: String) -> [LogLine] {
        var cursor = LogCursor(logFiles(of: instance))
        var lines: [LogLine] = []
        while let line = cursor.next() { lines.append(line) }
        return lines
    }

    /// - Returns: whether an instance, by its name, is one of these services', or is named itself; also one that was or
    ///   will be scaled away. Every one is if there are none.
    /// - Throws: ``ComposeError`` when there is no such project or service.
    private func filter(for services: [String]) throws(ComposeError) -> @Sendable (_ instance: String) -> Bool {
        guard let status = try ProjectStatus.read(self) else {
            throw ComposeError(code: "no-project", message: "project '\(name)' was never started here")
        }
        let own = Set(status.services.map(\.service))
        if !services.isEmpty {
            let known = try status.knownNames(of: self).union(LogFiles.names(in: logDirectory))
            try status.check(services, areIn: known)
        }
        let wanted = Set(services)
        return { instance in
            if wanted.isEmpty || wanted.contains(instance) { return true }
            guard !own.contains(instance), let dash = instance.lastIndex(of: "-") else { return false }
            return Int(instance[dash...].dropFirst()) != nil && wanted.contains(String(instance[..<dash]))
        }
    }

    // MARK: Events

    var eventFiles: LogFiles { LogFiles(directory: eventDirectory, name: ProjectEvent.logName) }

    /// What has happened in the project, in this run and those before, as far back as it is kept.
    ///
    /// - Parameters:
    ///   - services: only what happened to these, or to instances of services; everything if empty.
    ///   - period: the times that events may have.
    ///   - follow: whether to wait for more, through all restarts, until the task is cancelled.
    /// - Throws: ``ComposeError`` when there is no such project or service.
    package func events(
        of services: [String] = [],
        in period: LogPeriod = LogPeriod(),
        follow: Bool = false
    ) throws(ComposeError) -> some AsyncSequence<ProjectEvent, Never> & Sendable {
        let isWanted = try filter(for: services)
        let isEverything = services.isEmpty
        return try readEvents(in: period, follow: follow).filter { $0.instance.map(isWanted) ?? isEverything }
    }

    /// What happens from a time on, until the task is cancelled; in a project that was never started, too.
    ///
    /// - Throws: ``ComposeError`` when the project's folder cannot be made or watched.
    package func events(
        since begin: Date
    ) throws(ComposeError) -> some AsyncSequence<ProjectEvent, Never> & Sendable {
        try readEvents(in: LogPeriod(since: begin), follow: true)
    }

    private func readEvents(
        in period: LogPeriod, follow: Bool
    ) throws(ComposeError) -> some AsyncSequence<ProjectEvent, Never> & Sendable {
        try LogReader(directory: eventDirectory, last: nil, in: period, follow: follow).compactMap(ProjectEvent.init)
    }
}

extension ChangeOutcome {
    fileprivate var error: ComposeError? {
        switch self {
        case .pending, .reached: nil
        case .overtaken(let reason): ComposeError(code: "overtaken", message: reason)
        case .failed(let error): error
        }
    }
}

private struct ProjectStatuses: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let project: Project
    let watch: DirectoryWatch
    private var last: ProjectStatus?

    init(project: Project, watch: DirectoryWatch) {
        self.project = project
        self.watch = watch
    }

    func makeAsyncIterator() -> ProjectStatuses { self }

    /// - Throws: ``ComposeError`` `status-unreadable`.
    mutating func next() async throws -> ProjectStatus? {
        while !Task.isCancelled {
            // Asked before it is read: what a supervisor that has ended wrote last is then in what is read.
            let supervisor = last?.supervisor.open()
            let status = try ProjectStatus.read(project)
            if let status, status != last {
                last = status
                return status
            }
            guard let supervisor, status != nil else { return nil }
            // Something may have been written, or the supervisor has ended.
            await firstResult(of: { [watch] in _ = await watch.wait() }, supervisor.waitForExit)
        }
        return nil
    }
}
