package import Compose
internal import Foundation
internal import Glibc
internal import Subprocess
internal import Support
internal import Synchronization
internal import SystemPackage
internal import TestSupport

/// A nats-server of a test, which can be killed, paused and started again on the same port and the same files.
///
///     try await NATSServer().whileRunning { server in
///         try await server.kill()
///         try await server.restart()
///     }
///
/// The server ends with the process of the test, even if that is killed.
package final class NATSServer: Sendable {
    /// One run of the server.
    private final class Round: Sendable {
        let hasStarted = Latch()
        let stop = Latch()
        let hasEnded = Latch()
        let pid = Mutex<Int32?>(nil)
        let isPaused = Mutex(false)
    }

    package let name: String
    private let reserved: LoopbackPort
    private let settings: Mutex<String>
    /// The disk of its own; nil if it uses the disk of the test.
    private let disk: SmallDisk?
    /// The limit of the store, as the configuration writes it.
    private let maximumStore: Mutex<String>
    /// The folder of the configuration, the store and the log. It is removed after ``whileRunning(_:)``.
    private let folder: ScratchFolder
    private let rounds: AsyncStream<Round>
    private let next: AsyncStream<Round>.Continuation
    private let current = Mutex<Round?>(nil)

    /// - Parameters:
    ///   - port: The port for clients. Nil for a free one.
    ///   - settings: Further lines of the configuration.
    ///   - maximumStore: The limit of all streams on the disk (`max_file`).
    ///   - diskSize: The size of a disk of its own for the store, such as `64m`. Each start has a new, empty one. It
    ///     needs a mount namespace: see ``SmallDisk/isAllowed``.
    package init(
        name: String = "nats", port: LoopbackPort? = nil, settings: String = "", maximumStore: String = "3GB",
        diskSize: String? = nil
    ) throws {
        self.name = name
        self.settings = Mutex(settings)
        self.maximumStore = Mutex(maximumStore)
        reserved = try port ?? LoopbackPort(for: name)
        let folder = try ScratchFolder()
        self.folder = folder
        disk = diskSize.map { SmallDisk(at: Self.store(in: folder), size: $0) }
        (rounds, next) = AsyncStream.makeStream()
    }

    /// The port for clients.
    package var port: Int { reserved.number }

    /// The address for clients.
    package var url: String { "nats://127.0.0.1:\(port)" }

    /// The log of all runs. Empty after ``whileRunning(_:)``.
    package var log: String {
        (try? String(contentsOfFile: folder.path("log"), encoding: .utf8)) ?? ""
    }

    /// Starts the server, runs `body`, and kills the server.
    /// - Throws: ``Failure`` with the error of `body` and the log; `CancellationError`.
    @discardableResult
    package func whileRunning<Result: Sendable>(
        startsNow: Bool = true, _ body: @escaping @Sendable (NATSServer) async throws -> Result
    ) async throws -> Result {
        defer { folder.remove() }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                for await round in self.rounds { try await self.run(round) }
                return nil
            }
            group.addTask {
                do {
                    if startsNow { try await self.restart() }
                    return try await body(self)
                } catch let error where !(error is CancellationError) {
                    throw Failure(error: error, log: self.log)
                }
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// The error of a test, with the last lines of the server's log.
    package struct Failure: Error, CustomStringConvertible {
        package let error: any Error
        package let log: String

        package var description: String {
            "\(error)\nThe server's log:\n" + log.split(separator: "\n").suffix(30).joined(separator: "\n")
        }
    }

    // MARK: Faults

    /// Starts the server, after killing it if it runs. Returns when the server accepts connections.
    /// - Throws: ``NotStarted``; `CancellationError`.
    package func restart() async throws {
        try await kill()
        let round = Round()
        current.withLock { $0 = round }
        next.yield(round)
        await round.hasStarted.waitUntilOpenOrCancelled()
        try Task.checkCancellation()
        guard round.pid.withLock({ $0 != nil }) else { throw NotStarted() }
    }

    /// The server ended before it accepted connections. The log says why.
    package struct NotStarted: Error {}

    /// Kills the server (SIGKILL) and waits until it has ended. Does nothing if it does not run.
    package func kill() async throws {
        guard let round = current.withLock({ $0 }) else { return }
        send(SIGKILL)
        round.stop.open()
        await round.hasEnded.waitUntilOpenOrCancelled()
        current.withLock { if $0 === round { $0 = nil } }
        try Task.checkCancellation()
    }

    /// Stops the process without ending it (SIGSTOP). Its connections stay open. Returns when all its threads have
    /// stopped: on a busy machine, some still run for a while after the signal.
    package func pause() {
        current.withLock { $0 }?.isPaused.withLock { $0 = true }
        send(SIGSTOP)
        guard let pid = current.withLock({ $0?.pid.withLock(\.self) }) else { return }
        while Self.hasRunningThread(pid) { sched_yield() }
    }

    private static func hasRunningThread(_ pid: pid_t) -> Bool {
        let tasks = "/proc/\(pid)/task"
        return (try? FileManager.default.contentsOfDirectory(atPath: tasks))?.contains { task in
            // The state follows the name, which is in parentheses: proc_pid_stat(5). A thread that has ended is
            // skipped.
            guard let stat = try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8),
                let state = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].dropFirst(2).first
            else { return false }
            return !"TZX".contains(state)
        } ?? false
    }

    /// Continues the process (SIGCONT).
    package func resume() {
        current.withLock { $0 }?.isPaused.withLock { $0 = false }
        send(SIGCONT)
    }

    package var isPaused: Bool { current.withLock { $0?.isPaused.withLock(\.self) ?? false } }

    /// True if the process exists. A server that ended by itself does not.
    package var isAlive: Bool {
        guard let pid = current.withLock({ $0?.pid.withLock(\.self) }) else { return false }
        return Glibc.kill(pid, 0) == 0
    }

    /// The folder in which the server stores its streams.
    package var store: String { Self.store(in: folder) }

    private static func store(in folder: ScratchFolder) -> String { folder.path("store") }

    /// Copies the store. The server must not run.
    package func saveStore() throws {
        try? FileManager.default.removeItem(atPath: folder.path("saved"))
        try FileManager.default.copyItem(atPath: store, toPath: folder.path("saved"))
    }

    /// Replaces the store by the copy. The server must not run.
    package func putBackStore() throws {
        try FileManager.default.removeItem(atPath: store)
        try FileManager.default.copyItem(atPath: folder.path("saved"), toPath: store)
    }

    /// Removes the store. The server must not run.
    package func removeStore() throws {
        try FileManager.default.removeItem(atPath: store)
    }

    /// Flips one bit in the middle of the oldest file with messages of a stream. The server must not run.
    package func flipBit(inMessagesOf stream: String) throws {
        guard let oldest = try messageFiles(of: stream).first else { return }
        var bytes = try Data(contentsOf: oldest)
        guard !bytes.isEmpty else { return }
        bytes[bytes.count / 2] ^= 4
        try bytes.write(to: oldest)
    }

    /// Flips one bit in each stored message of a stream whose subject is wanted. The server must not run.
    /// - Returns: The number of messages.
    @discardableResult
    package func flipBits(inMessagesOf stream: String, where isWanted: (_ subject: String) -> Bool) throws -> Int {
        var count = 0
        for file in try messageFiles(of: stream) {
            var bytes = [UInt8](try Data(contentsOf: file))
            for message in StoredBlock.messages(in: bytes) where isWanted(message.subject) {
                bytes[message.end - 1] ^= 4
                count += 1
            }
            try Data(bytes).write(to: file)
        }
        return count
    }

    /// The files with messages of a stream, the oldest one first.
    private func messageFiles(of stream: String) throws -> [URL] {
        let folder = URL(fileURLWithPath: store).appendingPathComponent("jetstream/$G/streams/\(stream)/msgs")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        func number(_ file: URL) -> Int { Int(file.deletingPathExtension().lastPathComponent) ?? 0 }
        return files.filter { $0.pathExtension == "blk" }.sorted { number($0) < number($1) }
    }

    /// Replaces the further lines of the configuration from the next start on.
    package func change(settings lines: String) {
        settings.withLock { $0 = lines }
    }

    /// Sets the limit of all streams on the disk from the next start on.
    package func limitStore(to size: String) {
        maximumStore.withLock { $0 = size }
    }

    private func send(_ signal: Int32) {
        // The shell has not yet waited for the process, or its entry would be gone, so the id is still its own.
        if let pid = current.withLock({ $0?.pid.withLock(\.self) }) { Glibc.kill(pid, signal) }
    }

    // MARK: Process

    /// The path of the program, which `make test` installs.
    private static let program = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../.build/nats-server")
        .standardizedFileURL.path

    /// Starts the program, and prints its process id when it accepts connections: then it has written a file into the
    /// folder `$1`. Prints `ended` when it has ended. Kills it when the standard input ends, which happens when the
    /// test's process ends in any way. A setting that kills a process with its parent (`PR_SET_PDEATHSIG`) would not
    /// do: it follows the thread that started the process.
    ///
    /// The kernel sends SIGHUP to a process group that contains a stopped process when the group's parent ends, so a
    /// paused server would outlive its shell if the shell did not ignore the signal.
    private static let script = """
        trap '' HUP
        exec 3<&0
        folder=$1
        shift
        "$@" </dev/null >/dev/null 2>&1 &
        server=$!
        { cat <&3; kill -9 $server; } >/dev/null 2>&1 &
        watch=$!
        { until [ -e "$folder/nats-server_$server.ports" ]; do sleep 0.02; done; echo $server; } 3<&- &
        ready=$!
        exec 3<&-
        wait $server
        kill $watch $ready 2>/dev/null
        echo ended
        """

    private func run(_ round: Round) async throws {
        defer {
            round.hasStarted.open()
            round.hasEnded.open()
        }
        try configure()
        try await runProgram(round)
    }

    /// Fills the server's own disk. There is room again after the next start.
    package func fillDisk() throws {
        guard let pid = current.withLock({ $0?.pid.withLock(\.self) }) else { return }
        try disk?.fill(of: pid)
    }

    private func configure() throws {
        let configuration = """
            server_name: \(name)
            listen: 127.0.0.1:\(port)
            max_payload: 9MB
            jetstream { store_dir: "\(store)", max_file: \(maximumStore.withLock(\.self)), max_mem: 256MB }
            ports_file_dir: "\(folder.path)"
            \(settings.withLock(\.self))

            """
        try configuration.write(toFile: folder.path("nats.conf"), atomically: true, encoding: .utf8)
    }

    private func runProgram(_ round: Round) async throws {
        var platform = PlatformOptions()
        // A Ctrl-C at the terminal must not reach the server.
        platform.processGroupID = 0
        let server = [Self.program, "-c", folder.path("nats.conf"), "-l", folder.path("log")]
        let arguments = ["-c", Self.script, "sh", folder.path] + (disk?.command(server) ?? server)
        _ = try await Subprocess.run(
            .path("/bin/sh"), arguments: Arguments(arguments), platformOptions: platform,
            input: .inputWriter, output: .sequence, error: .discarded
        ) { execution in
            var pid: Int32?
            for try await line in execution.standardOutput.strings() {
                pid = Int32(line)
                break
            }
            if let pid {
                round.pid.withLock { $0 = pid }
                round.hasStarted.open()
                await round.stop.waitUntilOpenOrCancelled()
            }
            try await execution.standardInputWriter.finish()
        }
    }
}

/// A file of a server with messages of a stream: one message after another. All numbers are little-endian.
///
/// A message has its length (4 bytes, the highest bit says that it has headers), its sequence (8 bytes), its time (8
/// bytes), the length of its subject (2 bytes), the subject, headers and body, and a checksum (8 bytes).
private enum StoredBlock {
    struct Message {
        let subject: String
        /// The index after the last byte of the headers and the body.
        let end: Int
    }

    private static let headSize = 22
    private static let checksumSize = 8

    static func messages(in bytes: [UInt8]) -> [Message] {
        func number(at index: Int, _ size: Int) -> Int {
            bytes[index..<index + size].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        var messages: [Message] = []
        var start = 0
        while start + headSize <= bytes.count {
            let length = number(at: start, 4) & 0x7fff_ffff
            let subjectEnd = start + headSize + number(at: start + 20, 2)
            let end = start + length - checksumSize
            guard subjectEnd <= end, start + length <= bytes.count else { break }
            let subject = String(decoding: bytes[start + headSize..<subjectEnd], as: UTF8.self)
            if subjectEnd < end { messages.append(Message(subject: subject, end: end)) }
            start += length
        }
        return messages
    }
}
