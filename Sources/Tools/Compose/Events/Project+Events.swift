package import Foundation

extension Project {
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
        let wanted = try instances(of: services)
        return try readEvents(in: period, follow: follow)
            .filter { event in wanted.isEmpty || event.instance.map(wanted.contains) ?? false }
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
