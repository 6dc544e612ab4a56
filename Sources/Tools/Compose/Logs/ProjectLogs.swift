/// The lines of a project's services, in the order of their times.
///
/// A follower sees new lines as they are written, of services that are started later too, and goes on through their
/// restarts and those of the whole project, until its task is cancelled; then it still gets what was written by then.
package struct ProjectLogs: AsyncSequence, Sendable {
    package typealias Element = LogLine

    private let project: Project
    private let services: [String]
    private let last: Int?
    private let watch: DirectoryWatch?

    fileprivate init(project: Project, services: [String], last: Int?, watch: DirectoryWatch?) {
        self.project = project
        self.services = services
        self.last = last
        self.watch = watch
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(project: project, services: services, last: last, watch: watch)
    }

    package struct Iterator: AsyncIteratorProtocol {
        private let project: Project
        private let services: [String]
        private let watch: DirectoryWatch?
        private var sources: [Source] = []

        private struct Source {
            var cursor: LogCursor
            /// Read already, but not yet the earliest of all.
            var peeked: LogLine?
        }

        fileprivate init(project: Project, services: [String], last: Int?, watch: DirectoryWatch?) {
            self.project = project
            self.services = services
            self.watch = watch
            addSources(last: last)
        }

        package mutating func next() async -> LogLine? {
            while true {
                if let line = earliest() { return line }
                guard let watch, !Task.isCancelled else { return nil }
                await watch.wait()
                // A service that has no log yet shows all of it once it has.
                addSources(last: nil)
            }
        }

        private mutating func addSources(last: Int?) {
            let names = services.isEmpty ? project.loggedServices : services
            for name in names.sorted() where !sources.contains(where: { $0.cursor.service == name }) {
                let cursor = LogCursor(service: name, path: project.logPath(of: name), last: last)
                sources.append(Source(cursor: cursor))
            }
        }

        private mutating func earliest() -> LogLine? {
            for index in sources.indices where sources[index].peeked == nil {
                sources[index].peeked = sources[index].cursor.next(acceptsOpenLine: watch == nil)
            }
            let waiting = sources.indices.compactMap { index in sources[index].peeked.map { (index, $0.timestamp) } }
            guard let (index, _) = waiting.min(by: { $0.1 < $1.1 }) else { return nil }
            defer { sources[index].peeked = nil }
            return sources[index].peeked
        }
    }
}

extension Project {
    /// What the services have written in the present or the last run.
    ///
    /// - Parameters:
    ///   - services: only these; all if empty.
    ///   - last: how many lines of each to begin with; `nil` is all.
    ///   - follow: whether to wait for more, by inotify.
    /// - Throws: ``ComposeError`` when there is no such project or service.
    package func logs(
        of services: [String] = [],
        last: Int? = nil,
        follow: Bool = false
    ) throws(ComposeError) -> ProjectLogs {
        guard let status = try ProjectStatus.read(self) else {
            throw ComposeError(code: "no-project", message: "project '\(name)' was never started here")
        }
        let known = Set(status.services.map(\.service)).union(loggedServices)
        if let unknown = services.first(where: { !known.contains($0) }) {
            throw ComposeError(
                code: "no-service",
                message: "project '\(name)' has no service '\(unknown)'",
                recovery: "it has \(known.sorted().joined(separator: ", "))"
            )
        }
        // Before the first look at the files, so that nothing is written unseen between the two.
        let watch = follow ? try DirectoryWatch(path: logDirectory) : nil
        return ProjectLogs(project: self, services: services, last: last, watch: watch)
    }
}
