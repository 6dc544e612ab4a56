internal import Compose
public import EventBus
internal import Foundation
internal import Logging
internal import ZeroMQEventBus

/// Real processes on a real bus, in a folder of the test's own.
///
///     try await TestStack.with([.broker, TestService("error-notifier", after: ["broker"])]) { stack in
///         try await stack.bus.publish(ApplicationError(code: "test", message: "It failed."))
///         try await stack.message(Document.ErrorBanner.self) { $0.error?.code == "test" }
///     }
///
/// What goes wrong inside is thrown with every process's log and all messages of the bus.
public struct TestStack: Sendable {
    /// A connection of the test itself.
    public let bus: any EventBus
    let supervisor: Supervisor
    let project: Project
    let transcript = Transcript()

    /// How long anything is waited for, unless said. A working test comes nowhere near it.
    public static let deadline: Duration = .seconds(60)

    /// Runs processes for as long as `body` does. They are ready before it begins and gone when this returns.
    /// - Parameter services: one of them must be ``TestService/broker``, or something else that serves the bus.
    /// - Throws: ``StackFailure``.
    public static func with<Result: Sendable>(
        _ services: [TestService], _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await with({ Stack(directory: $0, services: services.map(\.service)) }, body)
    }

    /// Runs the stack of a compose file for as long as `body` does.
    /// - Throws: ``StackFailure``; what is wrong with the file.
    public static func with<Result: Sendable>(
        file: String, _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await with({ _ in try ComposeFile(path: file).stack }, body)
    }

    private static func with<Result: Sendable>(
        _ makeStack: (_ directory: String) throws -> Stack,
        _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await ScratchDirectory.with { scratch in
            let project = try Project(
                name: "test", stateRoot: "\(scratch.path)/state", runtimeRoot: "\(scratch.path)/run")
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let supervisor = try Supervisor(
                stack: makeStack(scratch.path), project: project,
                options: SupervisorOptions(backoff: RestartBackoff(initial: .milliseconds(50))), logger: logger)
            let bus = try ZeroMQEventBus(address: project.busAddress, source: "test/1", logger: logger)
            return try await TestStack(bus: bus, supervisor: supervisor, project: project).run(body)
        }
    }

    private func run<Result: Sendable>(
        _ body: @escaping @Sendable (TestStack) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { processes in
            processes.addTask { try await supervisor.run() }
            let result: Swift.Result<Result, any Error>
            do {
                try await isUp()
                result = .success(try await withRecording { try await body(self) })
            } catch {
                result = .failure(failure(error))
            }
            supervisor.stop()
            do {
                try await processes.waitForAll()
            } catch {
                throw failure(error)
            }
            return try result.get()
        }
    }

    /// Runs `body` with the bus connected and everything on it recorded.
    private func withRecording<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await bus.whileOpen {
            try await withThrowingTaskGroup(of: Result?.self) { group in
                group.addTask {
                    try await bus.withSubscription(to: [.all], from: .beginning) { messages in
                        for try await message in messages { transcript.append(message) }
                    }
                    return nil
                }
                group.addTask { try await body() }
                defer { group.cancelAll() }
                while let result = try await group.next() {
                    if let result { return result }
                }
                throw CancellationError()
            }
        }
    }

    private func isUp() async throws {
        for await status in supervisor.statuses {
            if status.phase == .up { return }
            if status.phase == .stopped { break }
        }
        throw failure("the stack did not come up")
    }
}
