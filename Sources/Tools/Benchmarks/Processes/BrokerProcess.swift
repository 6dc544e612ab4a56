internal import Compose
internal import Subprocess
internal import SystemPackage

/// A broker with sockets and a journal of its own.
struct BrokerProcess: Sendable {
    let directory: String
    let durability: Durability

    var address: String { "ipc://\(directory)/bus" }

    init(_ scratch: Scratch, _ durability: Durability, name: String = "broker") throws {
        directory = try scratch.folder(name)
        self.durability = durability
    }

    /// Runs a broker for as long as `body` does.
    /// - Parameter body: gets how long the broker took until it said that it was ready.
    /// - Throws: ``BenchmarkError`` when it does not become ready; what `body` throws.
    func run<Result: Sendable>(_ body: (Duration) async throws -> Result) async throws -> Result {
        let socket = try NotifySocket(path: "\(directory)/notify")
        let configuration = try configuration(notifying: socket)
        let begin = ContinuousClock.now
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .currentStandardError
        ) { execution in
            guard await Self.isReady(socket, execution.standardOutput) else {
                try Task.checkCancellation()
                throw BenchmarkError("the broker did not start")
            }
            let result = try await body(.now - begin)
            await execution.teardown(using: Self.teardown)
            return result
        }
        return result.closureResult
    }

    private static let teardown = [TeardownStep.gracefulShutDown(allowedDurationToNextStep: .seconds(30))]

    private func configuration(notifying socket: NotifySocket) throws -> Configuration {
        let arguments = [
            "--bus", address, "--journal", "\(directory)/journal.sqlite", "--durability", durability.rawValue,
        ]
        return Executables.configuration(
            try Executables.broker, arguments,
            environment: .inherit.updating(["NOTIFY_SOCKET": socket.path, "SEGUE_LOG_LEVEL": "warning"]),
            teardown: Self.teardown)
    }

    /// - Returns: false when it ended instead, or took too long.
    private static func isReady(_ socket: NotifySocket, _ output: SubprocessOutputSequence) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                while let message = await socket.next() {
                    if message.isReady { return true }
                }
                return false
            }
            group.addTask {
                // A broker says nothing there: the end of its output is its own.
                do { for try await _ in output {} } catch {}
                return false
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(120))
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
