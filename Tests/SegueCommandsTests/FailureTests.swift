import CommandLineTestSupport
import Foundation
import Testing

@testable import SegueCommands

@Suite("Failures of segue")
struct FailureTests {
    @Test(
        "A malformed message is refused in one line",
        arguments: [
            (["PlaylistSelected"], "'PlaylistSelected' is not a message type; did you mean command.PlaylistSelected?"),
            (["LaunchFinished"], "'LaunchFinished' is not a message type; did you mean event.LaunchFinished?"),
            (["Comand.X"], "'Comand.X' is not a message type; did you mean command.X?"),
            (["event.X", "--key", "k"], "only a document has a key, and event.X is not a document; remove --key"),
            (
                ["event.X", "--lifetime", "5"],
                "only a command expires, and event.X is not a command; remove --lifetime"
            ),
            (["query.X"], "query.X is a query and cannot be published; use 'segue ask'"),
        ])
    func message(arguments: [String], line: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.run(["send"] + arguments)
            #expect(result.error == "segue: \(line)\n")
            #expect(result.status == 64)
            #expect(result.output.isEmpty)
        }
    }

    @Test("A failure is printed with its remedy, as a phrase or as a sentence")
    func remedy() {
        let phrases = CommandError(code: "a", "there is no file", recovery: "name one")
        #expect(phrases.description == "there is no file; name one")
        let sentences = CommandError(
            code: "a", "command.Play failed: That is not possible.", recovery: "Choose another.")
        #expect(sentences.description == "command.Play failed: That is not possible. Choose another.")
    }

    @Test(
        "Data that are not a JSON object are refused, as an argument and on standard input",
        arguments: [
            ("{", "the data is not JSON: malformed JSON: expected a member's name at byte 2"),
            ("[]", "the data is not a JSON object; write it like '{\"playlistID\": \"p1\"}'"),
        ])
    func data(data: String, line: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            for verb in [["send", "event.X"], ["ask", "X"]] {
                for result in [try await segue.run(verb + [data]), try await segue.run(verb + ["-"], input: data)] {
                    #expect(result.error == "segue: \(line)\n")
                    #expect(result.status == 65 && result.output.isEmpty)
                }
            }
        }
    }

    @Test("A verb without a broker fails in one line", .timeLimit(.minutes(1)))
    func noBroker() async throws {
        try await SegueCommandLine.inScratch { segue in
            let bus = "ipc://\(segue.directory)/bus"
            let result = try await segue("send", "event.X", "--bus", bus)
            #expect(result.error == "segue: no broker answers at \(bus); start one with 'segue up'\n")
            #expect(result.status == 69)
        }
    }

    @Test("An invalid address of the bus is refused with its origin")
    func address() async throws {
        try await SegueCommandLine.inScratch { segue in
            var segue = segue
            let forms = [
                "nonsense": "one of ipc:///DIRECTORY, tcp://HOST:PORT, nats://HOST:PORT/NAME, tls://HOST:PORT/NAME",
                "other://127.0.0.1:1":
                    "one of ipc:///DIRECTORY, tcp://HOST:PORT, nats://HOST:PORT/NAME, tls://HOST:PORT/NAME",
                "tcp://nowhere": "ipc:///DIRECTORY or tcp://HOST:PORT",
            ]
            for (address, form) in forms {
                segue.environment["SEGUE_BUS"] = address
                let result = try await segue("services")
                #expect(
                    result.error
                        == "segue: SEGUE_BUS: '\(address)' is not the address of a bus; write \(form)\n")
                #expect(result.status == 78)
            }
        }
    }

    @Test("A missing or invalid compose file is refused, with each mistake on a line")
    func composeFile() async throws {
        try await SegueCommandLine.inScratch { segue in
            let none = try await segue("up")
            #expect(
                none.error
                    == "segue: there is no compose file in \(segue.directory) or in a folder above it; "
                    + "name a compose file with -f FILE\n")
            #expect(none.status == 66)
            #expect(try await segue("up", "-f", "no.yaml").status == 66)
            try segue.write("services:\n  a: {comand: x}\n  b: {command: x, restart: often}\n")
            let wrong = try await segue("config", "-q")
            #expect(wrong.status == 78 && wrong.errorLines.count == 3)
            #expect(
                wrong.error.contains("compose.yaml:2: unknown key 'comand' in service 'a'; did you mean 'command'?"))
        }
    }

    @Test("Help is printed at any terminal width, and fails for an unknown command")
    func help() async throws {
        try await SegueCommandLine.inScratch { segue in
            var narrow = segue
            for columns in [1, 10, 24, 25] {
                narrow.environment["COLUMNS"] = "\(columns)"
                let help = try await narrow("send", "--help")
                #expect(help.status == 0 && help.output.contains("USAGE"), "\(columns)")
            }
            let unknown = try await segue("help", "nope")
            #expect(unknown.status == 64)
            #expect(unknown.error == "segue: 'nope' is not a command of 'segue'; see 'segue --help'\n")
        }
    }

    @Test("A failure of Foundation with a file is reported with the system's message")
    func file() throws {
        let error = try #require(throws: CocoaError.self) { try String(contentsOfFile: "/", encoding: .utf8) }
        let failure = try #require(Failure(error))
        #expect(failure.lines == ["/ cannot be read: Is a directory"])
        #expect(failure.status == .noInput)
        let folder = FileManager.default.temporaryDirectory.path
        let write = try #require(throws: CocoaError.self) {
            try "".write(toFile: folder, atomically: false, encoding: .utf8)
        }
        #expect(Failure(write)?.lines.first?.hasPrefix("\(folder) cannot be written: ") == true)
        #expect(Failure(write)?.status == .ioError)
    }

    @Test("A failure to read standard input is reported with the system's message", .timeLimit(.minutes(1)))
    func input() async throws {
        try await SegueCommandLine.inScratch { segue in
            for verb in ["flow check", "contract check", "replay"] {
                let result = try await segue.shell("segue \(verb) - < .")
                #expect(
                    result.error
                        == "segue: standard input cannot be read: Is a directory; redirect it from a file or a pipe\n")
                #expect(result.status == 66, "\(verb)")
            }
        }
    }

    @Test("A project that was never started, or does not run, is reported")
    func project() async throws {
        try await SegueCommandLine.inScratch { segue in
            let ps = try await segue("ps", "-p", "none")
            #expect(ps.status == 1 && ps.errorLines.count == 1)
            #expect(try await segue("logs", "-p", "none").status == 1)
            let down = try await segue("down", "-p", "none")
            #expect(down.status == 0 && down.error == "segue: project 'none' was not running\n")
        }
    }

    @Test("An invalid command line is refused in one line")
    func usage() async throws {
        try await SegueCommandLine.inScratch { segue in
            for arguments in [
                ["monitor", "--since", "5x"], ["monitor", "--count", "0"], ["monitor", "--type", "a.b"], ["bogus"],
                ["down", "-t", "x"], ["get"], ["get", "event.X"], ["logs", "-n", "x"],
            ] {
                let result = try await segue.run(arguments)
                #expect(result.status == 64, "\(arguments)")
                #expect(result.errorLines.count == 1 && result.error.hasPrefix("segue: "), "\(result.error)")
            }
            #expect(try await segue("--help").status == 0)
        }
    }
}
