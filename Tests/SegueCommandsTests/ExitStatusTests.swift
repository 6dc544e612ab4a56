import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@testable import SegueCommands

/// The examples in the table run in a folder with a stack, on a bus without services and documents.
@Suite("Exit statuses of docs/running.md", .timeLimit(.minutes(1)))
struct ExitStatusTests {
    private struct Row {
        let status: Int32
        let example: String
    }

    /// The section of the page.
    private static func section() throws -> String {
        let page = try String(contentsOfFile: Repository.path("docs/running.md"), encoding: .utf8)
        let sections = page.components(separatedBy: "\n## ")
        return try #require(sections.first { $0.hasPrefix("Which exit statuses are there?\n") })
    }

    /// The rows of the section's table.
    private static func rows() throws -> [Row] {
        try section()
            .matches(of: #/(?m)^\| (\d+) \| .* \| `(.*)` \|$/#)
            .map { Row(status: try #require(Int32($0.1)), example: String($0.2)) }
    }

    @Test("Each status on the page has an example that ends with it")
    func examples() async throws {
        let rows = try Self.rows()
        try await SegueCommandLine.onBus { segue in
            for row in rows {
                let result = try await segue.shell(row.example)
                #expect(result.status == row.status, "\(row.example): \(result.error)")
                let isFailure = ![0, 130].contains(row.status)
                #expect(result.error.isEmpty == !isFailure, "\(row.example): \(result.error)")
                #expect(result.errorLines.allSatisfy { $0.hasPrefix("segue: ") }, "\(row.example): \(result.error)")
            }
        }
    }

    @Test("The page lists each status once")
    func complete() throws {
        let statuses = CommandStatus.allCases.map(\.rawValue)
        #expect(try Self.rows().map(\.status) == [0] + statuses + [130])
    }

    @Test("The page shows the output of the first command about exit statuses")
    func firstCommand() async throws {
        let command = try #require(try Self.section().firstMatch(of: #/```sh\n(.*)\n```/#)?.1)
        try await SegueCommandLine.onBus { segue in
            let result = try await segue.shell(String(command))
            #expect(result.error == "segue: there is no document Menu; there are no documents yet\n")
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
