/// How a project is, as its supervisor writes it down, for another process to follow.
///
/// The present status comes first, then the newest after each change; one who is slow misses those between. Ends when
/// the supervisor has ended, after the last that it wrote.
package struct ProjectStatuses: AsyncSequence, Sendable {
    private let project: Project
    private let watch: DirectoryWatch

    fileprivate init(project: Project, watch: DirectoryWatch) {
        self.project = project
        self.watch = watch
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(project: project, watch: watch)
    }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let project: Project
        fileprivate let watch: DirectoryWatch
        private var last: ProjectStatus?

        fileprivate init(project: Project, watch: DirectoryWatch) {
            self.project = project
            self.watch = watch
        }

        /// - Throws: ``ComposeError`` `status-unreadable`.
        package mutating func next() async throws -> ProjectStatus? {
            while !Task.isCancelled {
                // Asked before it is read: what a supervisor that has ended wrote last is then in what is read.
                let supervisor = last?.supervisor.open()
                let status = try ProjectStatus.read(project)
                if let status, status != last {
                    last = status
                    return status
                }
                guard let supervisor, status != nil else { return nil }
                await change(or: supervisor)
            }
            return nil
        }

        /// Returns when something may have been written, or the supervisor has ended.
        private func change(or supervisor: ProcessHandle) async {
            await withTaskGroup { group in
                group.addTask { [watch] in _ = await watch.wait() }
                group.addTask { await supervisor.waitForExit() }
                await group.next()
                group.cancelAll()
            }
        }
    }
}

extension Project {
    /// - Throws: ``ComposeError`` `watch`, `status-unreadable`.
    package func statuses() throws(ComposeError) -> ProjectStatuses {
        // Before the first look at the file, so that nothing is written unseen between the two.
        ProjectStatuses(project: self, watch: try DirectoryWatch(path: stateDirectory))
    }
}
