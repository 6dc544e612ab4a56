import BusStranger
import CommandLineTestSupport
import EventBus
import Foundation
import TestSupport
import Testing

@Suite("Control characters on a terminal", .timeLimit(.minutes(2)))
struct TerminalOutputTests {
    /// Sets the title of a terminal, changes its colours with a C1 control, turns text around and overwrites a line.
    private static let hostile = "\u{1B}]0;T\u{7}\u{9B}31m\u{202E}\u{7F}\rforged"

    /// Publishes messages with ``hostile`` in all places, one of them with a header that cannot be read.
    private func publish(_ segue: SegueCommandLine) async throws {
        let type = try #require(MessageType("command.Greet"))
        try await Stranger.withConnection(to: "\(segue.bus)/ingress") { stranger in
            _ = try stranger.publish([BadHeader.badTime.message(type)], sequence: 1)
        }
        try await segue.withConnection { bus in
            for key in ["a", Self.hostile] {
                var attributes = Attributes(
                    type: MessageType(kind: .document, name: "Evil"), source: Self.hostile + "/1", id: "evil" + key)
                attributes.key = key
                attributes.platform = Self.hostile
                let data = #"{"x":"\#u{9B}31m\#u{202E}\#u{7F}","\#u{9B}m":"\u001b]0;T\u0007"}"#
                _ = try await bus.publish(Batch([Envelope(attributes: attributes, data: Data(data.utf8))]))
            }
            let bytes = Envelope(
                attributes: Attributes(type: MessageType(kind: .event, name: "Bytes"), source: "s/1", id: "bytes"),
                data: Data(Self.hostile.utf8))
            _ = try await bus.publish(Batch([bytes]))
            try await withThrowingTaskGroup { group in
                group.addTask { try await bus.consume(as: "greeter", [.type(type)]) { _ in [] } }
                // An error is published with each dead letter.
                try await bus.withSubscription(to: [.kind(.error)], from: .beginning) { errors in
                    for try await _ in errors { break }
                }
                group.cancelAll()
            }
        }
    }

    /// The control characters that a terminal received, except those of this program: CRLF, SGR, and the sequences that
    /// draw a display again.
    private func controls(in output: String) -> [String] {
        let allowed = output.unicodeScalars.map { String($0) }.joined()
            .replacing(#/\r\n/#.matchingSemantics(.unicodeScalar), with: "\n")
            .replacing(#/\u{1B}\[[0-9;]*[mKJHA]/#.matchingSemantics(.unicodeScalar), with: "")
        return allowed.unicodeScalars.filter { scalar in
            scalar.value < 0x20 && scalar != "\n" && scalar != "\t" || (0x7F...0x9F).contains(scalar.value)
                || (0x202A...0x202E).contains(scalar.value)
        }.map { String($0.value, radix: 16) }
    }

    @Test("No verb writes control characters of messages, services or files to a terminal")
    func verbs() async throws {
        try await SegueCommandLine.inScratch { segue in
            let evil = """
                  evil:
                    command: [printf, '\\033]0;T\\007\\033[31mred\\033[0m \\302\\2332J\\rforged\\n']
                  ill:
                    command: [sleep, '1000']
                    healthcheck:
                      test: [CMD-SHELL, "printf '\\\\033]0;T\\\\007\\\\rforged'; exit 1"]
                      interval: 1s
                      retries: 1
                """
            try segue.write(BusEngine.broker.composeFile(services: evil))
            let up = try await segue("up", "-d", "--wait", "broker")
            try #require(up.status == 0, "\(up.error)")
            try await segue("start", "evil")
            try await segue("wait", "evil")
            try await segue("start", "ill")
            try await segue.shell("segue events -f ill | grep -m 1 unhealthy")
            try await publish(segue)
            try segue.write("services: { \"x\\e]0;T\\a\": { command: x, \"k\\e]0;T\\a\": 1 } }\n", to: "evil.yaml")
            let read = "--since beginning --until end"
            // Every verb prints text from outside.
            let verbs = [
                "monitor \(read)", "monitor \(read) -v", "monitor \(read) --json", "monitor \(read) --raw",
                "monitor \(read) --csv --field source --field data", "monitor \(read) --template '{source} {data}'",
                "trace evila", "trace evila --json", "describe command.Greet", "describe document.Evil",
                "describe document.Evil --json", "get Evil", "get Evil a", "get Evil a --json", "get Evil --json",
                "get Evil \"$HOSTILE\"", "get Evil \"$HOSTILE\"x", "dead list", "dead show 1", "dead list --json",
                "record to - --since beginning --until end", "ps -a ill", "events ill", "logs evil", "logs --json evil",
                "config -f evil.yaml",
                "send \"$HOSTILE\"", "monitor --no\"$HOSTILE\"", "ask \"$HOSTILE\"", "flow check \"$HOSTILE\"",
            ]
            let script = verbs.map { "echo '== '; segue \($0)" }.joined(separator: "\n")
            try segue.write(script, to: "verbs.sh")
            var terminal = segue
            terminal.environment = ["TERM": "xterm", "HOSTILE": Self.hostile]
            let result = try await terminal.shell("script -qec 'bash verbs.sh' /dev/null </dev/null")
            let outputs = result.output.components(separatedBy: "== \r\n").dropFirst()
            try #require(outputs.count == verbs.count, "\(result)")
            for (verb, output) in zip(verbs, outputs) {
                #expect(controls(in: output).isEmpty, "\(verb): \(output.debugDescription)")
                // The text arrived there, so that the test cannot pass because nothing was printed.
                #expect(output.contains("\\u00"), "\(verb): \(output)")
                #expect(!output.split(separator: "\r\n").contains { $0.hasPrefix("forged") }, "\(verb): \(output)")
            }
            #expect(outputs.contains { $0.contains("\u{1B}[31mred") }, "services keep their colours")
            // Data in a pipe stays as it is.
            let piped = try await segue("monitor", "--type", "event.Bytes", "--since", "1", "--until", "end", "--raw")
            #expect(piped.output == Self.hostile + "\n")
            #expect(try await segue("logs", "evil", "--no-log-prefix").output.hasPrefix("\u{1B}]0;T\u{7}\u{1B}[31mred"))
        }
    }

    @Test("Errors of services are written as lines without control characters, to a terminal and a log")
    func services() async throws {
        try await SegueCommandLine.inScratch { segue in
            var service = segue
            service.environment["HOSTILE"] = Self.hostile
            for command in [
                #"broker --"$HOSTILE""#, #"broker --bus "ipc://$PWD/bus" --journal "/none/$HOSTILE""#,
                #"navigation-coordinator --bus "$HOSTILE" --flow "$HOSTILE""#, #"device --platform x --bus "$HOSTILE""#,
            ] {
                let failure = try await service.shell(command)
                #expect(failure.status != 0 && failure.error.contains("\\u001b]0;T\\u0007"), "\(failure)")
                #expect(controls(in: failure.error).isEmpty, "\(failure.error.debugDescription)")
            }
        }
    }

    @Test("Log lines of services are written without control characters, whatever a message contains")
    func logs() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                BusEngine.broker.composeFile(
                    services: "  notifier: { command: error-notifier, healthcheck: { test: [NOTIFY] } }"))
            let up = try await segue("up", "-d", "--wait")
            try #require(up.status == 0, "\(up.error)")
            try await segue.withConnection { bus in
                let attributes = Attributes(
                    type: MessageType(kind: .command, name: "ErrorDismissed"), source: "s/1", subject: Self.hostile,
                    id: "id\(Self.hostile)\nforged")
                _ = try await bus.publish(Batch([Envelope(attributes: attributes, data: Data("[]".utf8))]))
                // The service discards the message, and logs why.
                try await bus.withSubscription(to: [.kind(.event)], from: .beginning) { events in
                    for try await _ in events { break }
                }
            }
            try await segue.shell("segue logs -f notifier | grep -m 1 'u001b]0;T'")
            let logged = try await segue("logs", "notifier", "--no-log-prefix")
            #expect(controls(in: logged.output).isEmpty, "\(logged.output.debugDescription)")
            #expect(!logged.lines.contains { $0.hasPrefix("forged") }, "\(logged.output)")
        }
    }
}
