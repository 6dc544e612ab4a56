internal import Compose
internal import Glibc
internal import Subprocess
internal import Synchronization

/// A process that passes on the bytes between two servers. While it is paused, it keeps them, and new connections get
/// no answer, as when packets of a network are lost.
final class RouteLink: Sendable {
    /// One of the two servers.
    private struct End {
        let server: Int
        /// The server's port for routes.
        let port: LoopbackPort
        /// The port at which the link listens in place of the server.
        let listening: LoopbackPort
    }

    private let ends: [End]
    private let pid = Mutex<Int32?>(nil)

    /// - Parameters:
    ///   - servers: The indices of two servers.
    ///   - ports: The ports of all servers for routes.
    init(between servers: [Int], ports: [LoopbackPort]) throws {
        ends = try servers.map {
            End(server: $0, port: ports[$0], listening: try LoopbackPort(for: "the link to server \($0)"))
        }
    }

    func leads(to server: Int) -> Bool { ends.contains { $0.server == server } }

    /// The ports at which it listens for the routes of a server.
    func ports(from server: Int) -> [Int] {
        leads(to: server) ? ends.filter { $0.server != server }.map(\.listening.number) : []
    }

    private static let ready = "ready"

    /// Listens, prints ``ready``, and ends when the standard input ends, which happens when the test's process ends in
    /// any way.
    private static let script = """
        import asyncio, os, sys, threading

        async def copy(reader, writer):
            try:
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
            except OSError:
                pass
            finally:
                writer.close()

        async def listen(port, target):
            async def accept(reader, writer):
                try:
                    other = await asyncio.open_connection("127.0.0.1", target)
                except OSError:
                    writer.close()
                    return
                await asyncio.gather(copy(reader, other[1]), copy(other[0], writer))
            return await asyncio.start_server(accept, "127.0.0.1", port)

        async def main():
            servers = [await listen(*map(int, pair.split(":"))) for pair in sys.argv[1:]]
            print("\(ready)", flush=True)
            await asyncio.gather(*(server.serve_forever() for server in servers))

        def watch():
            sys.stdin.read()
            os._exit(0)

        threading.Thread(target=watch, daemon=True).start()
        asyncio.run(main())
        """

    /// The link could not be started.
    struct NotStarted: Error {
        /// What it printed.
        let output: [String]
    }

    /// Starts the link, runs `body`, and ends the link.
    func whileRunning<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        var platform = PlatformOptions()
        // A Ctrl-C at the terminal must not reach the process.
        platform.processGroupID = 0
        let arguments = ["-c", Self.script] + ends.map { "\($0.listening.number):\($0.port.number)" }
        let result = try await Subprocess.run(
            .name("python3"), arguments: Arguments(arguments), platformOptions: platform,
            input: .inputWriter, output: .sequence, error: .combinedWithOutput
        ) { execution in
            var output: [String] = []
            for try await line in execution.standardOutput.strings() {
                output.append(line)
                if line == Self.ready { break }
            }
            guard output.last == Self.ready else { throw NotStarted(output: output) }
            self.pid.withLock { $0 = execution.processIdentifier.value }
            defer {
                self.resume()
                self.pid.withLock { $0 = nil }
            }
            let result = try await body()
            self.resume()
            try await execution.standardInputWriter.finish()
            return result
        }
        return result.closureResult
    }

    func pause() { send(SIGSTOP) }

    func resume() { send(SIGCONT) }

    private func send(_ signal: Int32) {
        // The process ends only after the id is removed, so the id is still its own.
        pid.withLock { pid in if let pid { kill(pid, signal) } }
    }
}
