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
        var cursor = LogCursor(logFiles(of: instance), LogCursor.Selection())
        var lines: [LogLine] = []
        while let line = cursor.next() { lines.append(line) }
        return lines
    }

    /// - Returns: whether an instance, by its name, is one of these services', or is named itself; also one that was or
    ///   will be scaled away. Every one is if there are none.
    /// - Throws: ``ComposeError`` when there is no such project or service.
    func filter(for services: [String]) throws(ComposeError) -> @Sendable (_ instance: String) -> Bool {
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
}
