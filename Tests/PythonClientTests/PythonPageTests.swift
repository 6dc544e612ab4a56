import Foundation
import SegueTestSupport
import TestSupport
import Testing

@Suite("Python samples on the pages")
struct PythonPageTests {
    @Test("The code in docs/wire-protocol.md equals the simple client")
    func excerpts() throws {
        let client = try String(contentsOfFile: "\(PythonClient.folder)/segue_simple.py", encoding: .utf8)
        let excerpts = try Self.blocks(of: "python", in: "docs/wire-protocol.md")
        #expect(!excerpts.isEmpty)
        for excerpt in excerpts {
            #expect(client.contains(excerpt), "\(excerpt)")
        }
    }

    @Test(
        "The commands of docs/examples/python/README.md run as written", .timeLimit(.minutes(3)),
        .needsPython)
    func commands() async throws {
        try await TestStack.withPython { stack, _ in
            let commands = try Self.blocks(of: "sh", in: "docs/examples/python/README.md")
            // The first block creates the Python environment, which scripts/python has already created for this test.
            let script = try #require(commands.first?.contains("pip install") == true ? commands.dropFirst() : nil)
            let output = try await Self.run(
                script.joined().replacing("venv/bin/python", with: PythonClient.python), bus: stack.busAddress)
            let lines = output.split(separator: "\n")
            for type in ["command.Work", "event.Handled", "event.LaunchFinished"] {
                #expect(lines.contains { $0.contains(#""type": "\#(type)""#) }, "\(output)")
            }
        }
    }

    @Test(
        "The program of the simple client in docs/examples/python/README.md runs as written", .timeLimit(.minutes(3)),
        .needsPython)
    func program() async throws {
        try await TestStack.withPython { stack, python in
            let program = try #require(try Self.blocks(of: "python", in: "docs/examples/python/README.md").first)
            let script = program.replacing("ipc:///tmp/example-bus", with: stack.busAddress)
            try await python.running(script: script) { _ in
                _ = try await stack.message(Handled.self) { $0.number == 2 }
            }
        }
    }

    private static func blocks(of language: String, in path: String) throws -> [String] {
        try String(contentsOfFile: Repository.path(path), encoding: .utf8)
            .matches(of: #/(?s)```(\w*)\n(.*?)```/#).filter { $0.1 == language }.map { String($0.2) }
    }

    /// Runs lines of a shell script, and ends the background processes that they leave.
    private static func run(_ lines: String, bus: String) async throws -> String {
        let script = "set -euo pipefail; trap 'kill $(jobs -p)' EXIT; cd '\(PythonClient.folder)'\n\(lines)"
        return try await TestProgram(
            "/bin/bash", ["-c", script], environment: ["PYTHONDONTWRITEBYTECODE": "1", "SEGUE_BUS": bus]
        ).output()
    }
}
