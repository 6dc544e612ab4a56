import Foundation
import Support
import TestSupport
import Testing

@testable import Compose

@Suite("Export to systemd units")
struct SystemdExportTests {
    /// A stack with the keys that an export writes to units.
    static let text = """
        name: demo
        x-ports: [web]
        services:
          store:
            command: sleep 1000
            healthcheck: {test: [NOTIFY], start_period: 20s}
            restart: on-failure:3
            x-watchdog: 10s
          setup:
            command: [sh, -c, "echo $$HOME 100% \\"a b\\" > result"]
            depends_on: {store: {condition: service_healthy}}
          web:
            command: sleep $SEGUE_PORT_WEB
            scale: 2
            restart: always
            environment: {TOKEN: "se\\"cr$$et %h\\nx", UNSET: , URL: "http://127.0.0.1:${SEGUE_PORT_WEB}/${SEGUE_REPLICA}"}
            depends_on: {setup: {condition: service_completed_successfully}, store: {required: false}}
            healthcheck: {test: test -e /, interval: 2s, timeout: 1s500ms, start_period: 10s}
            stop_signal: SIGINT
            stop_grace_period: 0s
            deploy: {restart_policy: {delay: 2s}}
        """

    private static let environment = [
        "PATH": "/usr/bin:/bin", "HOME": "/home/ann", "XDG_RUNTIME_DIR": "/run/user/1000",
        "XDG_STATE_HOME": "/home/ann/state",
    ]

    private func export(
        _ text: String = text, name: String = "demo", manager: SystemdManager = .user,
        ports: [String: Int] = ["web": 8123],
        directory: String = "/home/ann/units"
    ) throws -> SystemdExport {
        try SystemdExport(
            stack: ComposeFile(text: text, path: "c.yaml", directory: "/tmp", environment: [:]).stack, name: name,
            manager: manager, ports: ports, directory: directory, executableDirectory: nil,
            environment: Self.environment)
    }

    @Test(
        "The units equal the reviewed ones",
        arguments: [(SystemdManager.user, "user"), (.system(user: "ann"), "system")])
    func golden(manager: SystemdManager, folder: String) throws {
        for file in try export(manager: manager).files() {
            let path = URL(filePath: #filePath).appending(path: "../../../Fixtures/SystemdUnits/\(folder)/\(file.name)")
            if ProcessInfo.processInfo.environment["SEGUE_RENEW_UNITS"] != nil {
                try file.text.write(to: path.standardizedFileURL, atomically: true, encoding: .utf8)
            }
            #expect(try String(contentsOf: path.standardizedFileURL, encoding: .utf8) == file.text, "\(file.name)")
        }
    }

    @Test("systemd accepts the units", arguments: [SystemdManager.user, .system(user: "root")])
    func verified(manager: SystemdManager) async throws {
        let scratch = try Scratch()
        try SystemdFile.write(export(manager: manager, directory: scratch.path).files(), to: scratch.path)
        let flag = manager == .user ? "--user" : "--system"
        // `systemd-analyze` also prints warnings about settings that it does not know, and still succeeds.
        let found = try await Shell.run(
            "cd \"$0\" && XDG_RUNTIME_DIR=$0 systemd-analyze \(flag) verify ./*.target ./*.service", scratch.path)
        #expect(found.split(separator: "\n").filter { $0.contains("demo.") }.isEmpty, "\(found)")
    }

    @Test("No unit file that others can read contains a secret")
    func secrets() async throws {
        let scratch = try Scratch()
        let files = try export(directory: scratch.path).files()
        // A second export replaces the files. The new ones must have the same modes.
        try SystemdFile.write(files, to: scratch.path)
        try SystemdFile.write(files, to: scratch.path)
        let modes = try modes(of: scratch)
        let secret = #"se\"cr"#
        let readable = modes.filter { $0.value & 0o077 != 0 }.keys.sorted()
        #expect(
            readable == [
                "demo.setup.service", "demo.store.service", "demo.target", "demo.web-1.service", "demo.web-2.service",
            ])
        let filesWithSecret = try modes.keys.filter { try scratch.read($0).contains(secret) }.sorted()
        #expect(filesWithSecret == ["demo.web-1.env", "demo.web-2.env"])
    }

    /// The permissions of the files in a folder, by name.
    private func modes(of scratch: Scratch) throws -> [String: Int] {
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(scratch.path)/\(name)")
                return (name, try #require(attributes[.posixPermissions] as? Int))
            })
    }

    @Test("The units have a command line and variables that work without systemd")
    func byHand() async throws {
        let scratch = try Scratch()
        let text = """
            services:
              a:
                command: [sh, -c, 'printf "%s|" "$$@" "$$TOKEN" "$$URL" "$$SEGUE_SERVICE" > result; pwd >> result', "0",
                  'a "b" \\ %h $$x', ';', "two\\nlines"]
                environment: {TOKEN: "se\\"cr$$et %h\\n`x", URL: "$SEGUE_BUS"}
                working_dir: \(scratch.path)
            """
        let files = try export(text, ports: [:], directory: scratch.path).files()
        try SystemdFile.write(files, to: scratch.path)
        try await run(try #require(files.first { $0.name == "demo.a.service" }).text)
        #expect(
            try scratch.read("result")
                == "a \"b\" \\ %h $x|;|two\nlines|se\"cr$et %h\n`x|ipc:///run/user/1000/segue/demo/bus|a|\(scratch.path)\n"
        )
    }

    /// Runs the command of a unit as systemd would, with the unit's variables and in its folder.
    private func run(_ unit: String) async throws {
        let command = try #require(UnitLine.values(of: "ExecStart", in: unit).first)
        let arguments = UnitLine.words(command).map { $0.replacing("$$", with: "$") }
        let variables = UnitLine.values(of: "Environment", in: unit).flatMap(UnitLine.words).map { line in
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            return (parts[0], parts[1])
        }
        let variableFile = try #require(UnitLine.values(of: "EnvironmentFile", in: unit).first)
        let folder = try #require(UnitLine.values(of: "WorkingDirectory", in: unit).first)
        // A shell can read the file of variables, too.
        try await TestProgram(
            "/bin/sh", ["-c", "set -a; . \"$0\"; exec \"$@\"", variableFile] + arguments,
            environment: Dictionary(uniqueKeysWithValues: variables), inheritsEnvironment: false, in: folder
        ).output()
    }

    @Test(
        "An address is checked with a command",
        arguments: [
            ("TCP, '127.0.0.1:${SEGUE_PORT_WEB}'", ["bash", "/dev/tcp/", "127.0.0.1 8123"]),
            ("HTTP, 'http://127.0.0.1:${SEGUE_PORT_WEB}/a'", ["curl", "--fail", "http://127.0.0.1:8123/a"]),
        ])
    func endpoint(test: String, parts: [String]) throws {
        let text = "x-ports: [web]\nservices: {a: {command: sh, healthcheck: {test: [\(test)]}}}"
        let files = try export(text).files()
        let unit = try #require(files.first { $0.name == "demo.a.service" })
        let line = try #require(unit.text.split(separator: "\n").first { $0.hasPrefix("ExecStartPost=") })
        for part in parts { #expect(line.contains(part), "\(line)") }
    }

    @Test("A script waits until the service is healthy, for a limited time")
    func probe() async throws {
        var probe = HealthProbe(command: ["false"], interval: .milliseconds(10), timeout: .seconds(5), retries: 3)
        await #expect(throws: TestProgram.Failure.self) { try await Shell.run(probe.waitingScript, "probe", "false") }
        probe.startPeriod = .seconds(600)
        let scratch = try Scratch()
        let file = "\(scratch.path)/x"
        let test = "echo x >> \(file); [ $(wc -l < \(file)) -eq 3 ]"
        try await Shell.run(probe.waitingScript, "probe", "sh", "-c", test)
        #expect(try scratch.read("x") == "x\nx\nx\n")
        // The largest value that a file may contain.
        let long = Duration.seconds(365 * 86_400)
        let extreme = HealthProbe(
            command: ["x"], interval: long, timeout: long, retries: 1_000_000, startPeriod: long,
            startInterval: .microseconds(1))
        #expect(extreme.waitingScript.contains("timeout 31536000.000"))
    }

    @Test(
        "A stack with a feature that systemd lacks is refused",
        arguments: [
            ("services: {a: {command: sh, environment: {a.b: '1'}}}", "demo", "systemd-variable"),
            ("services: {a: {command: sh}}", "network", "target-taken"),
            ("services: {a: {command: no-such-thing}}", "demo", "executable-not-found"),
            ("services: {a: {command: sh, working_dir: /no/such}}", "demo", "no-working-directory"),
        ])
    func refused(text: String, name: String, code: String) {
        let error = #expect(throws: ComposeError.self) { try export(text, name: name, ports: [:]).files() }
        #expect(error?.code == code)
    }

    @Test("A path or a name that would add lines to a unit is refused")
    func lines() {
        let text = "services: {a: {command: sh, environment: {V: x}}}"
        for (manager, directory) in [
            (.user, "/home/ann/a\nExecStartPre=touch b"), (.system(user: "ann\rGroup=root"), "/home/ann/units"),
        ] as [(SystemdManager, String)] {
            let error = #expect(throws: ComposeError.self) {
                try export(text, manager: manager, ports: [:], directory: directory).files()
            }
            #expect(error?.code == "systemd-line")
        }
    }

    @Test("Free ports are chosen for those that are not given, and an unknown port is refused")
    func ports() throws {
        #expect(try export().ports == ["web": 8123])
        #expect(try export(ports: [:]).ports["web"] != nil)
        let error = #expect(throws: ComposeError.self) { try export(ports: ["wb": 1]) }
        #expect(error?.code == "unknown-port")
    }
}

@Suite("Text of unit files")
struct SystemdTextTests {
    @Test(
        "An argument is quoted so that systemd passes it unchanged",
        arguments: [
            ("plain/path-1.0_x:y,z@w=v+u", "plain/path-1.0_x:y,z@w=v+u"), ("", "\"\""), ("a b", "\"a b\""),
            ("100%", "100%%"), ("$HOME", "$$HOME"), ("${A} b", "\"$${A} b\""), (";", "\";\""), ("'", "\"'\""),
            ("a\"b\\c", #""a\"b\\c""#), ("two\nlines\t\u{1}", #""two\nlines\t\x01""#), ("größe", "\"größe\""),
        ])
    func argument(text: String, expected: String) {
        #expect(SystemdText.argument(text) == expected)
    }

    @Test(
        "A variable is quoted so that a shell also reads the same value",
        arguments: ["", "a b", "a\"b$c `d` \\ %h\nx'y", "#;=", "ß", "a\"\u{301}b$\u{301}(id)"])
    func assignment(value: String) async throws {
        let scratch = try Scratch()
        let path = try scratch.write(SystemdText.assignment("V", value) + "\n", to: "e")
        let output = try await Shell.run("set -a; . \"$0\"; printf '%s' \"$V\"", path)
        #expect(output == value)
    }

    @Test("A duration of zero is not infinite")
    func timeout() {
        #expect(SystemdText.timeout(.zero) == "1ms")
        #expect(SystemdText.timeout(.milliseconds(1500)) == "1s500ms")
    }
}

/// Reads the part of the unit syntax (systemd.syntax(7)) that the export writes, without using the exporter's code.
enum UnitLine {
    /// The values of a key, one for each line.
    static func values(of key: String, in unit: String) -> [String] {
        unit.split(separator: "\n").filter { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.count + 1)) }
    }

    /// The words of a line, with double quotes, C escapes and `%%` resolved.
    static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        var rest = Substring(line)
        while let character = rest.popFirst() {
            switch character {
            case "\"": (isQuoted, word) = (!isQuoted, word ?? "")
            case " " where !isQuoted:
                if let finished = word { words.append(finished) }
                word = nil
            case "\\": word = (word ?? "") + escaped(&rest)
            case "%":
                rest.removeFirst()
                word = (word ?? "") + "%"
            default: word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    private static func escaped(_ rest: inout Substring) -> String {
        switch rest.popFirst() {
        case "n": return "\n"
        case "t": return "\t"
        case "x":
            let digits = rest.prefix(2)
            rest.removeFirst(2)
            return UInt8(digits, radix: 16).map { String(UnicodeScalar($0)) } ?? "?"
        case let other: return other.map(String.init) ?? "?"
        }
    }
}
