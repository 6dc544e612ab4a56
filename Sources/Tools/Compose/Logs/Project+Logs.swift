package import Foundation

extension Project {
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
        let wanted = try instances(of: services)
        return try LogReader(directory: logDirectory, last: last, in: period, follow: follow) { name in
            wanted.isEmpty || wanted.contains(name)
        }
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
        var cursor = LogCursor(logFiles(of: instance), LogCursor.Selection())
        var lines: [LogLine] = []
        while let line = cursor.next() { lines.append(line) }
        return lines
    }

    /// - Returns: what the instances of some services are called; those that have written something before, too.
    /// - Throws: ``ComposeError`` when there is no such project or service.
    func instances(of services: [String]) throws(ComposeError) -> Set<String> {
        guard let status = try ProjectStatus.read(self) else {
            throw ComposeError(code: "no-project", message: "project '\(name)' was never started here")
        }
        let logged = LogFiles.names(in: logDirectory)
        var wanted: Set<String> = []
        for service in services {
            let instances = status.services.filter { $0.service == service }.map(\.name)
            guard !instances.isEmpty || logged.contains(service) else {
                let known = logged.union(status.services.map(\.service)).sorted()
                throw ComposeError(
                    code: "no-service",
                    message: "project '\(name)' has no service '\(service)'",
                    recovery: "it has \(known.joined(separator: ", "))"
                )
            }
            wanted.formUnion(instances + [service])
        }
        return wanted
    }
}
