import Testing

@testable import Compose

@Suite("Services in a compose file")
struct ComposeServiceTests {
    private func service(_ text: String) throws -> Service {
        try readCompose("services:\n  a:\n    command: x\n" + text.indented(by: 4)).stack.services[0]
    }

    @Test(
        "A healthcheck is read in every notation",
        arguments: [
            ("{test: [CMD, curl, -f, url]}", Readiness.probe(HealthProbe(command: ["curl", "-f", "url"]))),
            ("{test: [CMD-SHELL, a b]}", .probe(HealthProbe(command: ["/bin/sh", "-c", "a b"]))),
            ("{test: a || b}", .probe(HealthProbe(command: ["/bin/sh", "-c", "a || b"]))),
            (
                "{test: [CMD, x], interval: 1m, timeout: 2s, retries: 4, start_period: 5s, start_interval: 500ms}",
                .probe(
                    HealthProbe(
                        command: ["x"], interval: .seconds(60), timeout: .seconds(2), retries: 4,
                        startPeriod: .seconds(5), startInterval: .milliseconds(500)))
            ),
            ("{test: [HTTP, 'http://localhost:80/x']}", .probe(.endpoint(.http("http://localhost:80/x")))),
            ("{test: [TCP, 'localhost:80']}", .probe(.endpoint(.tcp("localhost:80")))),
            ("{test: [CMD, x], interval: 0s, timeout: 0s, retries: 0}", .probe(HealthProbe(command: ["x"]))),
            ("{test: [CMD, x], disable: true}", .started), ("{disable: true}", .started), ("{test: [NONE]}", .started),
            ("{test: [NOTIFY]}", .notify(timeout: nil)), ("", .started),
        ])
    func healthcheck(text: String, expected: Readiness) throws {
        #expect(try service("healthcheck: \(text)").readiness == expected)
    }

    @Test(
        "A restart policy is read in every notation",
        arguments: [
            ("restart: no", RestartPolicy.no), ("restart: on-failure:2", .onFailure(limit: 2)),
            ("deploy: {restart_policy: {condition: none}}", .no),
            ("deploy: {restart_policy: {}}", .always()),
            ("deploy: {restart_policy: {condition: any, max_attempts: 3}}", .always(limit: 3)),
            ("deploy: {restart_policy: {condition: on-failure, max_attempts: 3}}", .onFailure(limit: 3)),
            ("restart: on-failure\ndeploy: {restart_policy: {max_attempts: 5}}", .onFailure(limit: 5)),
            ("restart: unless-stopped\ndeploy: {restart_policy: {delay: 1s}}", .unlessStopped),
        ])
    func restart(text: String, expected: RestartPolicy) throws {
        #expect(try service(text).restart == expected)
    }

    @Test("The delay before a restart is constant, unless a maximum lets it grow")
    func backoff() throws {
        let constant = try service("deploy: {restart_policy: {delay: 3s}}").backoff
        #expect(constant == RestartBackoff(initial: .seconds(3), maximum: .seconds(3)))
        let growing = try service("deploy: {restart_policy: {delay: 3s, x-max-delay: 1m, window: 5s}}").backoff
        #expect(growing == RestartBackoff(initial: .seconds(3), maximum: .seconds(60), resetAfter: .seconds(5)))
        #expect(try service("deploy: {restart_policy: {delay: 0s}}").backoff == nil, "no busy loop")
    }

    @Test("The number of replicas is read, and its instances must have unique names")
    func replicas() throws {
        #expect(try service("scale: 2").replicas == 2)
        #expect(try service("deploy: {replicas: '0'}").instances.isEmpty)
        #expect(try service("scale: 2\ndeploy: {replicas: 2}").replicas == 2)
        let file = "services:\n  a: {command: x, scale: 2}\n  a-2: {command: x}"
        #expect(
            mistakes { try readCompose(file) } == [
                "c.yaml:3: 'a-2' is also the name of an instance of service 'a'; rename one of the services"
            ])
    }

    @Test("Variables come from env files, of which the last wins, and the service's own win over them")
    func environment() throws {
        let scratch = try Scratch()
        let services = try scratch.readCompose(
            [
                "c.yaml": """
                services:
                  a:
                    command: x
                    env_file: [one.env, {path: two.env, format: raw}, {path: none.env, required: false}]
                    environment: {OWN: own, PASSED: , UNSET: }
                  b: {command: x, env_file: one.env}
                """,
                "one.env": "ONE='1'\nTWO=1\nOWN=1\nURL=http://127.0.0.1:${SEGUE_PORT_X:-80}\nPASSED=1\nUNSET=1",
                "two.env": "TWO='2'",
            ], environment: ["PASSED": "p"]
        ).stack.services
        #expect(
            services[0].environment == [
                "ONE": "1", "TWO": "'2'", "OWN": "own", "URL": "http://127.0.0.1:80", "PASSED": "p", "UNSET": nil,
            ])
        #expect(services[1].environment["UNSET"] == "1")
    }

    @Test(
        "A mistake in a service is refused with its cause",
        arguments: [
            (
                "environment: {A: yes}",
                "'A' in 'environment' of service 'a' is a YAML boolean, but the value of a variable is a string; "
                    + "write it in quotes: \"yes\""
            ),
            ("environment: {A: [1]}", "'A' in 'environment' of service 'a' is not a single value"),
            (
                "environment: ['=x']",
                "'' in 'environment' of service 'a' is not a valid variable name; "
                    + "write NAME=value, without spaces before the equals sign"
            ),
            (
                "environment: [DEBUG = true]",
                "'DEBUG ' in 'environment' of service 'a' is not a valid variable name; "
                    + "write NAME=value, without spaces before the equals sign"
            ),
            (
                "healthcheck: {test: [HTTP, 'https://localhost']}",
                "'test' in 'healthcheck' of service 'a' is not a valid test; write [CMD, "
            ),
            ("env_file: none.env", "cannot read the file 'none.env'; write 'required: false' if it may be missing"),
            (
                "env_file: [{path: x, format: toml, required: false}]",
                "'format' of 'env_file' of service 'a' cannot be 'toml'; use raw"
            ),
            (
                "stop_grace_period: 10 parsecs",
                "'stop_grace_period' of service 'a' cannot be '10 parsecs'; write a duration"
            ),
            ("stop_signal: SIGNOT", "'stop_signal' of service 'a' cannot be 'SIGNOT'; write a signal's name"),
            ("scale: -1", "'scale' of service 'a' cannot be '-1'; write a number from 0 to 1000"),
            ("scale: 2\ndeploy: {replicas: 3}", "'scale' of service 'a' differs from 'replicas'; remove 'scale'"),
            (
                "deploy: {restart_policy: {condition: maybe}}",
                "'condition' of 'restart_policy' of service 'a' cannot be 'maybe'"
            ),
            (
                "depends_on: {b: {condition: ready}}",
                "'condition' of 'b' in 'depends_on' of service 'a' cannot be 'ready'; use one of"
            ),
            (
                "depends_on: {b: {required: perhaps}}",
                "'required' of 'b' in 'depends_on' of service 'a' cannot be 'perhaps'"
            ),
            ("healthcheck: {}", "'healthcheck' of service 'a' has no 'test'"),
            ("healthcheck: {test: [CMD]}", "'test' in 'healthcheck' of service 'a' is not a valid test"),
            ("healthcheck: {test: [NOTIFY], retries: 3}", "'retries' in 'healthcheck' of service 'a' has no effect"),
            ("x-watchdog: 0s", "'x-watchdog' of service 'a' is 0; write a longer time"),
            ("profiles: [a b]", "'a b' in 'profiles' of service 'a' is not a valid profile name"),
            ("profiles: dev", "'profiles' of service 'a' is not a list; write [a, b]"),
            ("labels: 3", "'labels' of service 'a' is not a mapping"),
            (
                "develop: {watch: [{path: x, action: sync}]}",
                "'action' of an entry of 'watch' of service 'a' cannot be 'sync'"
            ),
            ("develop: {watch: [{action: restart}]}", "an entry of 'watch' of service 'a' has no 'path'"),
            (
                "develop: {watch: [{path: x, ignore: [y]}]}",
                "'ignore' in an entry of 'watch' of service 'a' is not supported"
            ),
            ("working_dir: \"a\\0b\"", "'working_dir' of service 'a' contains a NUL character"),
            ("entrypoint: ['']", "'entrypoint' of service 'a' names no executable"),
            ("<<: 3", "'<<' can only merge mappings"),
        ])
    func refused(text: String, message: String) {
        let found = mistakes(inService: text).filter { !$0.contains("depends on unknown service 'b'") }
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.drop { $0 != " " }.dropFirst().hasPrefix(message) == true, "\(found)")
    }

    @Test("An error about a variable does not show its value")
    func secrets() {
        let text = """
            services:
              a:
                command: x
                restart: $SECRET
                stop_grace_period: ${SECRET}
                stop_signal: ${SECRET}
                scale: $SECRET
                env_file: ${SECRET}/x
                depends_on: ["$SECRET"]
                profiles: ["$SECRET"]
                environment: ["$SECRET= $SECRET"]
                healthcheck: {test: ["$SECRET"], interval: $SECRET, disable: $SECRET}
                working_dir: "${SECRET:?}${NONE:?because}"
            """
        let found = mistakes { try readCompose(text, environment: ["SECRET": "a hunter2\u{0}="]) }
        #expect(found.count >= 9, "\(found)")
        #expect(!found.joined().contains("hunter2"), "\(found)")
    }

    @Test("A key that is reset is removed, in a first file too")
    func reset() throws {
        let service = try service("environment: {A: !reset null, B: b}\nrestart: !reset always")
        #expect(service.environment == ["B": "b"] && service.restart == .no)
    }

    @Test("Aliases that expand beyond the limit are refused")
    func aliases() {
        var text = "services:\n  a: &a0 {command: x}\n"
        for level in 1...12 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            text += "  s\(level): &a\(level) {labels: [\(aliases)]}\n"
        }
        #expect(
            mistakes { try readCompose(text) }.contains {
                $0.contains("more than 100000 values with its aliases resolved")
            })
    }

    @Test("Merge keys that expand beyond the limit are refused", .timeLimit(.minutes(1)))
    func merges() {
        var text = "x-0: &m0 {LOG: debug}\n"
        for level in 1...12 {
            let aliases = Array(repeating: "*m\(level - 1)", count: 9).joined(separator: ", ")
            text += "x-\(level): &m\(level) {<<: [\(aliases)]}\n"
        }
        text += "services: {a: {command: x, environment: {<<: *m12}}}\n"
        #expect(
            mistakes { try readCompose(text) }.contains {
                $0.contains("more than 100000 values with its aliases resolved")
            })
    }
}

extension HealthProbe {
    fileprivate static func endpoint(_ test: Test) -> HealthProbe {
        var probe = HealthProbe(command: [])
        probe.test = test
        return probe
    }
}
