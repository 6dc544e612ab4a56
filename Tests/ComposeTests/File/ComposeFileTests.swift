import Testing

@testable import Compose

@Suite("Compose file")
struct ComposeFileTests {
    @Test("A file with every key becomes the stack that it describes")
    func whole() throws {
        let file = try readCompose(
            """
            name: focus
            x-ports: [spotify, "web-ui"]
            x-clients: [device --platform 'the mac', [viewer, -v]]
            x-common: &common
              restart: on-failure:3
              environment: {LEVEL: "${LEVEL:-info}", COUNT: 3}
            services:
              broker:
                <<: *common
                command: broker --flag "two words" 'it''s'
                healthcheck: {test: [NOTIFY], start_period: 1m30s}
                stop_signal: INT
                stop_grace_period: 500ms
              music:
                <<: *common
                entrypoint: [env, "A=$LEVEL"]
                command: ["music-service"]
                working_dir: work
                environment: ["KEY=a=b", PASSED_ON]
                restart: unless-stopped
                labels: {tier: data}
                depends_on:
                  broker: {condition: service_healthy}
            """
        )
        let broker = Service(
            name: "broker",
            command: ["broker", "--flag", "two words", "its"],
            environment: ["LEVEL": "info", "COUNT": "3"],
            restart: .onFailure(limit: 3),
            readiness: .notify(timeout: .seconds(90)),
            stopSignal: StopSignal(number: 2),
            stopGracePeriod: .milliseconds(500)
        )
        let music = Service(
            name: "music",
            command: ["env", "A=", "music-service"],
            workingDirectory: "/stack/work",
            environment: ["KEY": "a=b", "PASSED_ON": nil],
            dependencies: [Dependency(on: "broker", condition: .healthy)],
            restart: .unlessStopped,
            labels: ["tier": "data"]
        )
        let expected = Stack(
            name: "focus", directory: "/stack", services: [broker, music], ports: ["spotify", "web-ui"],
            clients: [["device", "--platform", "the mac"], ["viewer", "-v"]]
        )
        #expect(file.stack == expected)
        #expect(file.unsetVariables == ["LEVEL"])
    }

    @Test("All mistakes of a file are reported at once, each with its line")
    func allMistakes() {
        let found = mistakes {
            try readCompose(
                """
                name: Focus Player
                volumes: {}
                services:
                  broker:
                    image: redis
                    comand: broker
                    restart: sometimes
                  music:
                    command: "music 'open"
                    ports: ["80:80"]
                    depends_on: [brokr]
                    stop_grace_period: 10 parsecs
                    environment:
                      $KEY: "${NEEDED:?set it}"
                """
            )
        }
        #expect(
            found.map { $0.split(separator: ":")[1] } == ["1", "2", "4", "5", "6", "7", "9", "10", "11", "12", "14"])
        #expect(
            found[3] == "c.yaml:5: 'image' in service 'broker' makes no sense without containers; "
                + "name an executable in 'command'")
        #expect(found[4] == "c.yaml:6: unknown key 'comand' in service 'broker'; did you mean 'command'?")
        #expect(found[8] == "c.yaml:11: service 'music' depends on unknown service 'brokr'; did you mean 'broker'?")
        #expect(found[10].contains("required variable 'NEEDED' has no value: set it"))
        #expect(found[10].contains(".$KEY'"), "keys are not interpolated")
        #expect(!found.contains { $0.contains("\n") })
    }

    @Test(
        "A single mistake is reported in one line with its place",
        arguments: [
            ("", "c.yaml:1: the file is empty"),
            ("name: x", "c.yaml:1: 'services' is missing"),
            ("services:\n  a: {command: x\0}", "c.yaml:2: malformed YAML: control characters are not allowed"),
            ("# äö\nservices:\n  a: {command: x\0}", "c.yaml:3: malformed YAML: control characters are not allowed"),
            ("services: " + String(repeating: "[", count: 100_000), "c.yaml:1: malformed YAML: Maximum nesting level"),
            ("services: [a]", "c.yaml:1: 'services' is not a mapping"),
            ("services:\n  a: {command: x}\n  b: {command: [x}", "c.yaml:3: malformed YAML"),
            ("services:\n  a: {command: x, command: y}", "c.yaml:2: duplicate key 'command'"),
            ("services:\n  ../a: {command: x}", "c.yaml:2: '../a' is not a service name"),
            ("services:\n  a: {command: x, healthcheck: {test: [y]}}", "c.yaml:2: 'test' in 'healthcheck'"),
            ("x-ports: [a b]\nservices:\n  a: {command: x}", "c.yaml:1: 'a b' in 'x-ports' is not a valid name"),
            ("x-clients: device\nservices:\n  a: {command: x}", "c.yaml:1: 'x-clients' is not a list"),
            ("x-clients: ['a \"b']\nservices:\n  a: {command: x}", "c.yaml:1: a command of 'x-clients' is empty"),
        ]
    )
    func oneMistake(text: String, beginning: String) throws {
        let found = mistakes { try readCompose(text) }
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(beginning) == true, "\(found)")
    }

    @Test("Services that depend on each other are refused with the cycle")
    func cycle() {
        let found = mistakes {
            try readCompose(
                """
                services:
                  a: {command: x, depends_on: [b]}
                  b: {command: x, depends_on: [c]}
                  c:
                    command: x
                    depends_on: [a]
                  d: {command: x, depends_on: [d]}
                """
            )
        }
        #expect(
            found == [
                "c.yaml:2: the dependencies of services form a cycle: a → b → c → a; remove one of these dependencies",
                "c.yaml:7: the dependencies of services form a cycle: d → d; remove one of these dependencies",
            ])
    }

    @Test("A stack in Swift is checked like one from a file")
    func inCode() throws {
        let stack = Stack(
            directory: "/",
            services: [Service(name: "a", command: ["x"], dependencies: [Dependency(on: "other")])]
        )
        #expect(throws: ComposeError(code: "invalid-stack", message: "service 'a' depends on unknown service 'other'"))
        {
            try stack.validate()
        }
    }
}
