package import Foundation
internal import Support
import SystemSupport

extension Project {
    /// The statuses of the project that its supervisor writes.
    ///
    /// The current status comes first, then the newest status after each change. A slow reader misses statuses in
    /// between. The sequence ends after the last status of a supervisor that has ended.
    ///
    /// - Throws: ``ComposeError`` `watch`; the sequence throws `status-unreadable`.
    package func statuses() throws(ComposeError) -> some AsyncSequence<ProjectStatus, any Error> & Sendable {
        // The watch begins before the file is first read, so that no status written in between is missed.
        do {
            let watch = try DirectoryWatch(path: stateDirectory)
            // The runtime folder may not exist.
            let running = try? runtimeFolder().map { try DirectoryWatch(path: $0.path) }
            return ProjectStatuses(project: self, watches: [watch, running])
        } catch {
            throw .watch(error)
        }
    }

    /// Waits until a supervisor has carried out changes.
    ///
    /// - Parameters:
    ///   - milestone: the milestone that started instances must reach.
    ///   - onOutcome: called with each instance whose change has been carried out, except removed instances.
    /// - Throws: ``ComposeError``: the error of the first change that failed; `overtaken` if a later request
    ///   contradicts a change; `supervisor-ended` if the supervisor ends before it has carried out the changes.
    package func follow(
        _ changes: [Change], until milestone: Milestone = .ready, onOutcome: (InstanceStatus) async -> Void = { _ in }
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
        // After an orderly stop, all changes that end an instance have been carried out.
        guard let left = open.first(where: { !wasOrderly || !$0.isEnding }) else { return }
        throw ended(before: left.instance, was: left.isEnding ? "had ended" : "was up")
    }

    /// Waits until instances are up.
    ///
    /// - Throws: the errors of ``follow(_:until:onOutcome:)``.
    package func waitUntilUp(_ instances: [String]) async throws {
        try await follow(instances.map { Change(instance: $0, action: .keep, round: 0, reason: nil) })
    }

    /// Waits until instances have ended and will not be restarted: all of them, or at least one.
    ///
    /// - Parameters:
    ///   - all: true to wait for all instances, false to wait for one.
    ///   - onEnd: called with each instance that has ended, except removed instances.
    /// - Returns: the first instance that ended; nil if none of the instances exists.
    /// - Throws: ``ComposeError`` `supervisor-ended`.
    package func waitUntilEnded(
        _ instances: [String], all: Bool, onEnd: (InstanceStatus) async throws -> Void
    ) async throws -> InstanceStatus? {
        var open = instances
        var first: InstanceStatus?
        for try await status in try statuses() {
            for ended in status.services.filter({ open.contains($0.name) && $0.hasEnded }) {
                try await onEnd(ended)
                first = first ?? ended
            }
            open.removeAll { status[$0]?.hasEnded ?? true }
            if open.isEmpty || (first != nil && !all) { return first }
        }
        try Task.checkCancellation()
        throw ended(before: open.first ?? "", was: "had ended")
    }

    private func ended(before instance: String, was event: String) -> ComposeError {
        ComposeError(
            code: "supervisor-ended",
            message: "the supervisor of project '\(name)' ended before '\(instance)' \(event)",
            recovery: "see its output, or its log \(supervisorLogPath) if it ran in the background")
    }

    // MARK: Logs

    func logFiles(of instance: String) -> LogFiles { LogFiles(directory: logDirectory, name: instance) }

    /// The output of the services in this and earlier runs of the project, as far back as their logs go.
    ///
    /// - Parameters:
    ///   - services: the names of services or instances; empty for all.
    ///   - last: the number of existing lines of each instance to begin with; nil for all.
    ///   - period: the period of the lines.
    ///   - follow: true to wait for new lines, across restarts of the services and of the project.
    /// - Throws: ``ComposeError`` `no-project`, `unknown-service`; or an error of reading the project's files.
    package func logs(
        of services: [String] = [],
        last: Int? = nil,
        in period: LogPeriod = LogPeriod(),
        follow: Bool = false
    ) throws(ComposeError) -> LogReader {
        try LogReader(
            directory: logDirectory, last: last, in: period, follow: follow, isWanted: try filter(for: services))
    }

    /// The output of all services from a time on, until the task is cancelled. The project need not have been started
    /// yet.
    ///
    /// - Throws: ``ComposeError`` if the project's folder cannot be created or watched.
    package func logs(since begin: Date) throws(ComposeError) -> LogReader {
        try LogReader(directory: logDirectory, last: nil, in: LogPeriod(since: begin), follow: true)
    }

    /// The lines that the log of an instance contains now.
    package func writtenLines(of instance: String) -> [LogLine] {
        var cursor = LogCursor(logFiles(of: instance))
        var lines: [LogLine] = []
        while let line = cursor.next() { lines.append(line) }
        return lines
    }

    /// - Returns: a function that returns true for the names of the selected instances, also if they no longer exist or
    ///   do not exist yet. If `services` is empty, all are selected.
    /// - Throws: ``ComposeError`` `no-project`, `unknown-service`, `status-unreadable`, `stack-file`.
    private func filter(for services: [String]) throws(ComposeError) -> @Sendable (_ instance: String) -> Bool {
        guard let status = try ProjectStatus.read(self) else {
            throw ComposeError(
                code: "no-project", message: "project '\(name)' is not known here",
                recovery: "start it with 'segue up', or name another project with -p")
        }
        let own = Set(status.services.map(\.service))
        if !services.isEmpty {
            let known = try status.knownNames(of: self).union(LogFiles.names(in: logDirectory))
            try status.check(services, areIn: known)
        }
        let wanted = Set(services)
        return { instance in
            if wanted.isEmpty || wanted.contains(instance) { return true }
            guard !own.contains(instance), let (service, number) = instance.cut(atLast: "-") else { return false }
            return Int(number) != nil && wanted.contains(String(service))
        }
    }

    // MARK: Events

    var eventFiles: LogFiles { LogFiles(directory: eventDirectory, name: ProjectEvent.logName) }

    /// The events of the project in this and earlier runs, as far back as the event log goes.
    ///
    /// - Parameters:
    ///   - services: the names of services or instances whose events are selected; empty for all events.
    ///   - period: the period of the events.
    ///   - follow: true to wait for new events, across restarts of the project, until the task is cancelled.
    /// - Throws: ``ComposeError`` `no-project`, `unknown-service`; or an error of reading the project's files.
    package func events(
        of services: [String] = [],
        in period: LogPeriod = LogPeriod(),
        follow: Bool = false
    ) throws(ComposeError) -> some AsyncSequence<ProjectEvent, Never> & Sendable {
        let isWanted = try filter(for: services)
        let isEverything = services.isEmpty
        return try readEvents(in: period, follow: follow).filter { $0.instance.map(isWanted) ?? isEverything }
    }

    /// The events from a time on, until the task is cancelled. The project need not have been started yet.
    ///
    /// - Throws: ``ComposeError`` if the project's folder cannot be created or watched.
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
    private let watches: [DirectoryWatch]
    private var last: ProjectStatus?

    init(project: Project, watches: [DirectoryWatch?]) {
        self.project = project
        self.watches = watches.compactMap(\.self)
    }

    func makeAsyncIterator() -> ProjectStatuses { self }

    /// - Throws: ``ComposeError`` `status-unreadable`.
    mutating func next() async throws -> ProjectStatus? {
        while !Task.isCancelled {
            // The handle is opened before the status is read. If the supervisor has ended by then, the status is its
            // last status.
            let supervisor = last?.supervisor.open()
            let status = try ProjectStatus.read(project)
            if let status, status != last {
                last = status
                return status
            }
            guard let supervisor, status != nil else { return nil }
            // Returns when a file is written or the supervisor ends.
            await withTaskGroup { [watches] group in
                group.addTask { await supervisor.waitForExit() }
                for watch in watches { group.addTask { _ = await watch.wait() } }
                await group.next()
                group.cancelAll()
            }
        }
        return nil
    }
}
