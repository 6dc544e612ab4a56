import Foundation
import TestSupport
import Testing

@testable import Compose

@Suite("Export of a stack")
struct StackEncodingTests {
    private let text = """
        name: demo
        x-ports: [spotify]
        x-bus: nats://127.0.0.1:${SEGUE_PORT_SPOTIFY}/A$$B
        x-keys: keys
        x-clients: ["device 'a $$b'"]
        services:
          broker:
            command: broker --journal "/tmp/a b"
            restart: on-failure:3
            stop_signal: 42
            stop_grace_period: 1m500ms
            healthcheck: {test: [NOTIFY], start_period: 5s}
            x-watchdog: 2s
            labels: {team: core}
            develop: {watch: [{path: flows, action: restart}, {path: "/abs/$$a"}]}
          music:
            entrypoint: [sh, -c]
            command: ["echo $$HOME '${WHO}'"]
            working_dir: /srv
            environment: {A: "1", B: "$$5", C: "yes", D: "", E: "~", F: "two\\nlines ", G: "0x1", UNSET: , BUS: $SEGUE_BUS}
            depends_on:
              broker: {condition: service_healthy, restart: true}
              setup: {condition: service_completed_successfully, required: false}
            restart: unless-stopped
            scale: 3
            deploy: {restart_policy: {delay: 1s, x-max-delay: 20s, window: 1m}}
            healthcheck: {test: "curl $$URL", interval: 1s500ms, timeout: 2s, retries: 5, start_period: 9s}
          setup:
            command: [setup]
            healthcheck: {test: [HTTP, "http://127.0.0.1:${SEGUE_PORT_SPOTIFY}/a?b"]}
            profiles: [dev, "on"]
            deploy: {restart_policy: {max_attempts: 4}}
        """

    private var file: ComposeFile {
        get throws { try readCompose(text, environment: ["WHO": "it's me"]) }
    }

    @Test("An exported stack reads back as the same stack")
    func roundTrip() throws {
        let file = try file
        var expected = file.stack
        // The encoded stack does not depend on the folder of its file.
        for index in [0, 2] { expected.services[index].workingDirectory = "/stack" }
        let yaml = try file.stack.text
        #expect(try readCompose(yaml).stack == expected, "\(yaml)")
        let json = String(decoding: try JSONEncoder().encode(file.stack), as: UTF8.self)
        let again = try readCompose(json).stack
        #expect(again.services.sorted { $0.name < $1.name } == expected.services, "\(json)")
    }

    @Test("A working directory in the state folder is kept, and its path is known when the service starts")
    func stateFolder() throws {
        let directory = "${SEGUE_STATE_DIR}/x"
        let stack = try readCompose("services: {a: {command: x, working_dir: '\(directory)'}}").stack
        for stack in [stack, stack.anchored, try Stack(text: stack.text), try Stack(text: stack.anchored.text)] {
            #expect(stack.services[0].workingDirectory == directory)
        }
    }

    @Test("An unset variable stays unset, in every environment")
    func unset() throws {
        let text = try readCompose("services: {a: {command: x, environment: [FOO, BAR]}}", environment: ["BAR": "1"])
            .stack.text
        let again = try readCompose(text, environment: ["FOO": "elsewhere", "BAR": "2"]).stack
        #expect(again.services[0].environment == ["FOO": nil, "BAR": "1"], "\(text)")
    }

    @Test("The time for each variable does not grow with their number", .timeLimit(.minutes(1)))
    func many() throws {
        var stack = Stack(directory: "/", services: [Service(name: "a", command: ["x"])])
        for number in 0..<20_000 { stack.services[0].environment["V\(number)"] = String(number) }
        #expect(try Stack(text: stack.text).services == stack.anchored.services)
    }

    private static let words = [
        "", " ", "a b", " a", "a ", "true", "null", "~", "5", "0x1F", "1e3", "1:30", "yes", "a: b", "a:", "a #b", "#",
        "- a",
        "---", "<<", "=", "|", ">-", "\"", "'", "\\", "a\nb", "\n", "\t", "\r\n", "\u{7F}", "\u{85}", "\u{A0}",
        "\u{2028}",
        "a\u{FEFF}b", "%", "@", "`", "{", "[a]", "a, b", "*a", "&a", "!a", "é", "日本", "😀", "$", "$$x", "${A}",
        "${A:-b}",
        String(repeating: "--flag=value ", count: 20),
    ]

    @Test(
        "An exported stack reads back as the same stack whatever words it has, each on one line",
        arguments: 0..<200 as Range<UInt64>)
    func anyWords(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func word() -> String {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.words.randomElement(using: &random) ?? "" }
                .joined()
        }
        let service = Service(
            name: "a", command: ["run"] + (0..<4).map { _ in word() }, workingDirectory: "/srv",
            environment: ["A": word(), "B": nil, "C": word()], labels: ["team": word()])
        let stack = Stack(name: "demo", directory: "/", services: [service], clients: [["device", word()]])
        let text = try stack.text
        #expect(try Stack(text: text) == stack, "\(text)")
    }

    @Test("A long command is on one line, and letters are not escaped")
    func readable() throws {
        let words = String(repeating: "--flag=value ", count: 20) + "é日本"
        let service = Service(name: "a", command: ["run", words], workingDirectory: "/srv")
        #expect(try Stack(directory: "/", services: [service]).text.contains("\n    - \(words)\n"))
    }

    @Test("A stack contains everything in its file")
    func model() throws {
        let stack = try file.stack
        let broker = stack.services[0]
        #expect(broker.readiness == .notify(timeout: .seconds(5)) && broker.watchdog == .seconds(2))
        let music = stack.services[1]
        #expect(music.instances == ["music-1", "music-2", "music-3"])
        #expect(music.environment["UNSET"] == .some(nil) && music.environment["C"] == "yes")
        #expect(music.environment["BUS"] == "${SEGUE_BUS}")
        #expect(
            music.dependencies == [
                Dependency(on: "broker", condition: .healthy, restarts: true),
                Dependency(on: "setup", condition: .completed, isRequired: false),
            ])
        #expect(
            music.backoff
                == RestartBackoff(initial: .seconds(1), maximum: .seconds(20), resetAfter: .seconds(60)))
        #expect(
            music.readiness
                == .probe(
                    HealthProbe(
                        command: ["/bin/sh", "-c", "curl $URL"], interval: .milliseconds(1500), timeout: .seconds(2),
                        retries: 5, startPeriod: .seconds(9))))
        #expect(stack.services[2].restart == .always(limit: 4))
        #expect(stack.services[2].profiles == ["dev", "on"])
    }
}
