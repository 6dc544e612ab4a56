/// The lines of several logs of one folder, in the order of their times.
///
/// A follower sees new lines as they are written, of logs that are begun later too, until its task is cancelled; then it
/// still gets what was written by then.
package struct LogReader: AsyncSequence, Sendable {
    package typealias Element = LogLine

    private let directory: String
    private let isWanted: @Sendable (String) -> Bool
    private let selection: LogCursor.Selection
    private let watch: DirectoryWatch?

    /// - Parameters:
    ///   - directory: made where it is missing.
    ///   - last: how many lines of each log to begin with; `nil` is all.
    ///   - follow: whether to wait for more, by inotify.
    ///   - isWanted: which logs, by name.
    /// - Throws: ``ComposeError`` `watch`, or that the folder cannot be made.
    init(
        directory: String, last: Int?, in period: LogPeriod, follow: Bool,
        isWanted: @escaping @Sendable (String) -> Bool = { _ in true }
    ) throws(ComposeError) {
        let (since, until) = period.bounds
        selection = LogCursor.Selection(last: last, since: since, until: until)
        self.directory = directory
        self.isWanted = isWanted
        try RuntimeDirectory.make(directory)
        // Before the first look at the files, so that nothing is written unseen between the two.
        watch = follow ? try DirectoryWatch(path: directory) : nil
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    package struct Iterator: AsyncIteratorProtocol {
        private let reader: LogReader
        private var sources: [Source] = []

        private struct Source {
            var cursor: LogCursor
            /// Read already, but not yet the earliest of all.
            var peeked: LogLine?
        }

        fileprivate init(_ reader: LogReader) {
            self.reader = reader
            addSources(reader.selection)
        }

        package mutating func next() async -> LogLine? {
            while true {
                if let line = earliest() { return line }
                guard let watch = reader.watch, !Task.isCancelled else { return nil }
                guard await watch.wait() else { continue }
                // A log that was not there yet is shown from its beginning.
                var all = reader.selection
                all.last = nil
                addSources(all)
            }
        }

        private mutating func addSources(_ selection: LogCursor.Selection) {
            for name in LogFiles.names(in: reader.directory).sorted()
            where reader.isWanted(name) && !sources.contains(where: { $0.cursor.files.name == name }) {
                let files = LogFiles(directory: reader.directory, name: name)
                sources.append(Source(cursor: LogCursor(files, selection)))
            }
        }

        private mutating func earliest() -> LogLine? {
            for index in sources.indices where sources[index].peeked == nil {
                sources[index].peeked = sources[index].cursor.next()
            }
            let waiting = sources.indices.compactMap { index in sources[index].peeked.map { (index, $0.timestamp) } }
            guard let (index, _) = waiting.min(by: { $0.1 < $1.1 }) else { return nil }
            defer { sources[index].peeked = nil }
            return sources[index].peeked
        }
    }
}
