import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@testable import SegueCommands

/// The examples in the table run in a folder with a stack, on a bus without services and documents.
@Suite("Exit statuses of docs/commands.md", .timeLimit(.minutes(1)))
struct ExitStatusTests {
    @Test("Each status on the page has an example that ends with it")
    func examples() async throws {
        try await SegueCommandLine.onBus { segue in
            for row in ExitStatus.all {
                let result = try await segue.shell(row.example)
                #expect(result.status == row.status, "\(row.example): \(result.error)")
                let isFailure = ![0, 130].contains(row.status)
                #expect(result.error.isEmpty == !isFailure, "\(row.example): \(result.error)")
                #expect(result.errorLines.allSatisfy { $0.hasPrefix("segue: ") }, "\(row.example): \(result.error)")
            }
        }
    }

    @Test("The page shows the output of the first command about exit statuses")
    func firstCommand() async throws {
        try await SegueCommandLine.onBus { segue in
            let result = try await segue.shell(ExitStatus.firstCommand)
            #expect(result.error == "segue: \(ExitStatus.firstError)\n")
            #expect(result.output == "status 1\n")
        }
    }

    @Test("An unknown service has the same status in every verb")
    func unknownService() async throws {
        try await SegueCommandLine.onBus { segue in
            let verbs = [
                ["start", "nosuch"], ["restart", "nosuch"], ["scale", "nosuch=2"], ["up", "-d", "nosuch"],
                ["up", "-d", "--scale", "nosuch=2"], ["config", "nosuch"], ["ps", "nosuch"], ["logs", "nosuch"],
                ["events", "nosuch"], ["wait", "nosuch"], ["export", "systemd", "nosuch"],
            ]
            for arguments in verbs + [["stop", "nosuch"], ["kill", "nosuch"]] {
                let result = try await segue.run(arguments)
                #expect(result.status == 78 && result.errorLines.count == 1, "\(arguments): \(result.error)")
            }
            try await segue("down")
            for arguments in verbs + [["up", "nosuch"]] {
                let result = try await segue.run(arguments)
                #expect(result.status == 78 && result.errorLines.count == 1, "\(arguments): \(result.error)")
            }
        }
    }
}
