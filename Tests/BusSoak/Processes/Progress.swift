internal import Compose

/// What the processes have written down so far, and those who wait for more of it.
actor Progress {
    private let watch: DirectoryWatch
    private var tails: [(name: String, tail: HistoryTail)] = []
    private var counts: [String: Counts] = [:]
    private var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    private var lastWatcher = 0

    init(directory: String) throws {
        watch = try DirectoryWatch(path: directory)
    }

    /// Watches until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            _ = await watch.wait()
            look()
        }
    }

    func follow(_ name: String, path: String) throws {
        tails.append((name, try HistoryTail(path: path)))
    }

    /// What is written after the process has ended, nobody will read.
    func unfollow(_ name: String) {
        look()
        tails.removeAll { $0.name == name }
    }

    func current() -> [String: Counts] { counts }

    /// What has been handled and delivered, by all together.
    var total: Int { counts.values.reduce(0) { $0 + $1.handled + $1.delivered } }

    /// Waits until something fits; looked at whenever a file has changed.
    func until(_ fits: @Sendable ([String: Counts]) throws -> Bool) async throws {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        lastWatcher += 1
        let watcher = lastWatcher
        watchers[watcher] = continuation
        defer { watchers[watcher] = nil }
        look()
        if try fits(counts) { return }
        for await _ in changes {
            if try fits(counts) { return }
        }
        throw CancellationError()
    }

    /// Looks at the files, and lets everybody who waits look again.
    func look() {
        for (name, tail) in tails {
            tail.count(into: &counts[name, default: Counts()])
        }
        for watcher in watchers.values { watcher.yield() }
    }
}
