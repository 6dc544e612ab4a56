package import EventBus
internal import Foundation
package import Logging
internal import SystemSupport

/// The file in which a process keeps the content of its bus in memory (``SavedHub``).
///
/// The file is replaced as a whole, after each change and when the process ends. If the process is killed, the changes
/// of the last ``interval`` are lost; the file then has the content of an earlier moment.
package struct StateFile: Sendable {
    /// The time for which changes are collected before they are written together.
    package static let interval: Duration = .milliseconds(200)

    private let path: String
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let queue = FileQueue("segue.state-file")

    /// - Parameter path: The file. Its folder exists.
    package init(_ path: String, logger: Logger, clock: any Clock<Duration> = ContinuousClock()) {
        self.path = path
        self.logger = logger
        self.clock = clock
    }

    /// Runs `body` with a hub that has the content of the file. Content that cannot be read is moved to a file with the
    /// suffix `.refused`, and logged; the hub is then empty.
    /// - Parameter journalLimit: See `InMemoryHub.init(journalLimit:)`.
    /// - Throws: ``ConfigurationError`` if another process uses the file, or if file or folder cannot be used; the
    ///   error of `body`; ``SystemError`` if the content cannot be written at the end.
    package func withHub<Result: Sendable>(
        journalLimit: Int = .max, _ body: (InMemoryHub) async throws -> Result
    ) async throws -> Result {
        let lock = try lock()
        defer { lock.release() }
        let hub =
            try await queue.run { try read().map { InMemoryHub($0, journalLimit: journalLimit) } }
            ?? InMemoryHub(journalLimit: journalLimit)
        let outcome: Swift.Result<Result, any Error> = await withTaskGroup(of: Void.self) { group in
            let changes = await hub.changes()
            group.addTask { await write(hub, after: changes) }
            defer { group.cancelAll() }
            do { return .success(try await body(hub)) } catch { return .failure(error) }
        }
        // All services have ended, so this content is the last one.
        let saved = await hub.saved()
        do {
            try await queue.run { try write(saved) }
        } catch {
            // The error of the body comes first.
            logger.error("the state could not be saved: \(error)")
            if case .success = outcome { throw error }
        }
        return try outcome.get()
    }

    private func lock() throws -> FileLock {
        do throws(SystemError) {
            if let lock = try FileLock.acquire("\(path).lock") { return lock }
        } catch {
            throw ConfigurationError(
                "the state cannot be kept: \(error)", recovery: "choose a folder that this user may write to")
        }
        throw ConfigurationError(
            "another process uses the state in \(path)", recovery: "end that process, or choose another folder")
    }

    /// The content of the file. Nil if there is no file, or if its content was refused.
    private func read() throws -> SavedHub? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let refused = "\(path).refused"
        do {
            let data = try Data(contentsOf: URL(filePath: path))
            do throws(BusError) {
                return try SavedHub(data)
            } catch {
                if FileManager.default.fileExists(atPath: refused) {
                    try FileManager.default.removeItem(atPath: refused)
                }
                try FileManager.default.moveItem(atPath: path, toPath: refused)
                logger.error("the app starts without its saved state, which is now in \(refused): \(error.message)")
                return nil
            }
        } catch {
            throw ConfigurationError(
                "the saved state in \(path) cannot be used: \(error.localizedDescription)",
                recovery: "make the file and its folder readable and writable for this user")
        }
    }

    /// Writes the content after changes, until the task is cancelled.
    private func write(_ hub: InMemoryHub, after changes: AsyncStream<Void>) async {
        for await _ in changes {
            guard (try? await clock.sleep(for: Self.interval)) != nil else { return }
            let saved = await hub.saved()
            do {
                try await queue.run { try write(saved) }
            } catch {
                logger.error("the state could not be saved and is saved later: \(error)")
            }
        }
    }

    private func write(_ saved: SavedHub) throws {
        try AtomicFile(path).replace(with: try saved.data())
    }
}
