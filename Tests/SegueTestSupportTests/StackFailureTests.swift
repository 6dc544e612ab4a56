import Contracts
import EventBus
import Foundation
import Testing

@testable import SegueTestSupport
@testable import greeter

@Suite("Failures of a test of processes", .timeLimit(.minutes(3)))
struct StackFailureTests {
    private struct Mistake: Error, CustomStringConvertible {
        let description = "the test is wrong"
    }

    /// Fails with the failure's text and the content of its file.
    private func failure(
        _ body: @Sendable () async throws -> Void
    ) async throws -> (text: String, file: String) {
        let error = await #expect(throws: StackFailure.self) { try await body() }
        let failure = try #require(error)
        let path = try #require(failure.logFile)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(failure.description.hasSuffix("\nLogs: \(path)"), "\(failure)")
        #expect(failure.description.split(separator: "\n").count < 40, "\(failure)")
        return (failure.description, try String(contentsOfFile: path, encoding: .utf8))
    }

    @Test("A failure of any kind has the processes and a file with their logs and the messages")
    func logs() async throws {
        let line = #line + 2
        let (text, file) = try await failure {
            try await TestStack.with([.broker, TestService("greeter", after: ["broker"])]) { stack in
                let arrival = try await stack.bus.send(Command.GuestArrived(name: "Ada"))
                try await stack.message(DomainEvent.GuestWelcomed.self, after: arrival)
                try await stack.killAndRestart("greeter")
                throw Mistake()
            }
        }
        #expect(
            text.hasPrefix("SegueTestSupportTests/StackFailureTests.swift:\(line): the test is wrong\nWhat happened:\n")
        )
        #expect(text.contains(" begin test: GuestArrived name=Ada\n"), "\(text)")
        #expect(text.contains("\nProcesses:\n  greeter: ready, 1 restart\n  broker: ready\nLast lines of greeter:\n"))
        for part in ["== broker\n", "== greeter\n", "== the bus\n", "document.Presence", "event.GuestWelcomed"] {
            #expect(file.contains(part), "\(file)")
        }
    }

    @Test("A failure is reported in time if processes never become ready, with their last log lines")
    func start() async throws {
        let line: UInt = #line + 2
        let (text, file) = try await failure {
            try await TestStack.with(
                [.broker, TestService("mute", command: ["sh", "-c", "echo no database; exec sleep 600"])],
                deadline: .seconds(2), line: line
            ) { _ in }
        }
        #expect(
            text.hasPrefix(
                """
                SegueTestSupportTests/StackFailureTests.swift:\(line): waited 2s for the processes to be ready
                Processes:
                  mute: starting
                  broker: ready
                Last lines of mute:
                  no database
                Logs:
                """), "\(text)")
        #expect(file.contains("== mute\nno database\n"), "\(file)")
    }

    @Test("A failure has the line that waits for processes")
    func processes() async throws {
        let line = #line + 3
        let (text, _) = try await failure {
            try await TestStack.with([.broker]) { stack in
                try await stack.killAndRestart("nobody")
            }
        }
        #expect(text.hasPrefix("SegueTestSupportTests/StackFailureTests.swift:\(line): there is no process 'nobody'\n"))
    }
}
