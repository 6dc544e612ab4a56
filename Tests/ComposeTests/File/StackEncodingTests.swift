import Foundation
import Testing
import Yams

@testable import Compose

@Suite("A resolved stack")
struct StackEncodingTests {
    private let text = """
        name: demo
        x-ports: [spotify]
        services:
          broker:
            command: broker --journal "/tmp/a b"
            restart: on-failure:3
            stop_signal: 42
            stop_grace_period: 1m500ms
            healthcheck: {test: [NOTIFY], start_period: 5s}
            x-watchdog: 2s
            labels: {team: core}
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
            profiles: [dev, "on"]
            deploy: {restart_policy: {max_attempts: 4}}
        """

    private var file: ComposeFile {
        get throws { try readCompose(text, environment: ["WHO": "it's me"]) }
    }

    @Test("reads back as the same stack")
    func roundTrip() throws {
        let file = try file
        var expected = file.stack
        // What is written down no longer depends on where the file lies.
        for index in [0, 2] { expected.services[index].workingDirectory = "/stack" }
        let yaml = try YAMLEncoder().encode(file.stack)
        #expect(try readCompose(yaml).stack == expected, "\(yaml)")
        let json = String(decoding: try JSONEncoder().encode(file.stack), as: UTF8.self)
        let again = try readCompose(json).stack
        #expect(again.services.sorted { $0.name < $1.name } == expected.services, "\(json)")
    }

    @Test("has all that the file says")
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
