import Foundation
import Testing

@testable import Compose

@Suite("Several compose files")
struct ComposeMergeTests {
    @Test("Several files are one stack: mappings merge, lists are joined except commands, and later values win")
    func merge() throws {
        let scratch = try Scratch()
        let paths = try scratch.write(
            [
                "a.yaml": """
                name: first
                x-ports: [one]
                services:
                  web:
                    command: [web, --slow]
                    environment: {KEPT: "1", CHANGED: "1", GONE: "1", PASSED: "1"}
                    depends_on: [db]
                    profiles: [dev]
                    healthcheck: {test: [CMD, old, probe], interval: 1s}
                    labels: [a=1]
                    restart: always
                  db: {command: db}
                """,
                "over/b.yaml": """
                name: second
                x-ports: [two, one]
                services:
                  web:
                    command: [web, --fast]
                    environment: [CHANGED=2, "ADDED=${V}", PASSED]
                    depends_on: {cache: {condition: service_healthy}}
                    profiles: [dev, test]
                    healthcheck: {test: [CMD, new]}
                    labels: {b: 2}
                    working_dir: sub
                    restart:
                  cache: {command: cache}
                """,
                "c.yaml": """
                services:
                  web:
                    environment: {GONE: !reset null}
                    labels: !override {c: 3}
                """,
            ], reading: "a.yaml", "over/b.yaml", "c.yaml")
        let file = try ComposeFile(paths: paths, environment: ["V": "v", "PASSED": "p"])
        let web = try #require(file.stack.services.first)
        #expect(file.stack.name == "second")
        #expect(file.stack.ports == ["one", "two"])
        #expect(file.stack.services.map(\.name) == ["web", "db", "cache"])
        #expect(web.command == ["web", "--fast"])
        #expect(web.environment == ["KEPT": "1", "CHANGED": "2", "ADDED": "v", "PASSED": "p"])
        #expect(web.dependencies == [Dependency(on: "cache", condition: .healthy), Dependency(on: "db")])
        #expect(web.profiles == ["dev", "test"])
        #expect(web.readiness == .probe(HealthProbe(command: ["new"], interval: .seconds(1))))
        #expect(web.labels == ["c": "3"])
        #expect(web.restart == .always(), "a key without a value changes nothing")
        #expect(web.workingDirectory == "\(scratch.path)/sub", "all paths start where the first file lies")
        #expect(try ComposeSources(paths: paths).projectName() == "second")
    }

    @Test("Each mistake is reported with its file")
    func mistakesOfAll() throws {
        let scratch = try Scratch()
        let paths = try scratch.write(
            ["a.yaml": "services:\n  web: {comand: x}", "b.yaml": "services:\n  web:\n    restart: maybe"],
            reading: "a.yaml", "b.yaml")
        let found = mistakes { try ComposeFile(paths: paths, environment: [:]) }
        #expect(found.count == 3)
        #expect(found.contains { $0.hasPrefix("\(paths[0]):2: unknown key 'comand'") })
        #expect(found.contains { $0.hasPrefix("\(paths[1]):3: 'restart' of service 'web' cannot be 'maybe'") })
    }

    @Test("Variables come from .env beside the first file or from given files, and the process's own win")
    func environmentFiles() throws {
        let scratch = try Scratch()
        let paths = try scratch.write(
            [
                "c.yaml":
                    "services:\n  a: {command: [x, $FROM_FILE, $OWN, '${NONE:-n}'], environment: [FROM_FILE, OWN]}",
                ".env": "FROM_FILE=dot\nOWN=dot\nCOMPOSE_PROFILES=p, q", "one.env": "FROM_FILE=1\nOWN=1",
                "two.env": "FROM_FILE=${FROM_FILE}2",
            ], reading: "c.yaml", "one.env", "two.env")
        let usual = try ComposeFile(paths: [paths[0]], environment: ["OWN": "own"])
        #expect(usual.stack.services[0].command == ["x", "dot", "own", "n"])
        #expect(usual.stack.services[0].environment == ["FROM_FILE": "dot", "OWN": "own"])
        #expect(usual.profiles == ["p", "q"])
        let variables = try ComposeSources(paths: [paths[0]], environment: ["OWN": "own"]).variables(project: "p")
        #expect(
            variables.map { "\($0.name) \($0.origin ?? "-") \($0.standIn ?? "-")" } == [
                "FROM_FILE \(scratch.path)/.env -", "NONE - n", "OWN environment -",
            ])
        let given = try ComposeSources(
            paths: [paths[0]], environmentFiles: Array(paths.dropFirst()), environment: ["OWN": "own"]
        ).file(project: "p")
        #expect(given.stack.services[0].command == ["x", "12", "own", "n"])
        #expect(throws: ComposeError.self) {
            try ComposeSources(paths: [paths[0]], environmentFiles: ["/nowhere/x.env"], environment: [:])
        }
    }

    @Test(
        "A mistake that is found at the start of a service is reported at the last file that sets the key",
        arguments: [
            ("command", "b.yaml:3"), ("working_dir", "a.yaml:4"), ("healthcheck", "b.yaml:3"),
        ])
    func places(key: String, place: String) async throws {
        let scratch = try Scratch()
        let paths = try scratch.write(
            [
                "a.yaml": "services:\n  web:\n    command: old\n    working_dir: run",
                "b.yaml": "services:\n\n  web: {command: new}",
            ], reading: "a.yaml", "b.yaml")
        let file = try ComposeFile(paths: paths, environment: [:])
        let error = await #expect(throws: ComposeError.self) {
            try await file.placing {
                throw ComposeError(code: "x", message: "wrong", key: ServiceKey(service: "web", name: key))
            }
        }
        #expect(error?.message == "\(scratch.path)/\(place): wrong")
    }

    @Test("Variables of env files select the compose files and name the project")
    func selection() throws {
        let scratch = try Scratch()
        try scratch.write([
            ".env": "COMPOSE_FILE=base.yaml:sub/other.yaml\nCOMPOSE_PROJECT_NAME=named\nV=dot",
            "base.yaml": "name: file\nservices: {one: {command: 'echo $V'}}",
            "sub/other.yaml": "services: {one: {working_dir: w}}", "deep/x": "",
            "else.env": "COMPOSE_FILE=base.yaml\nV=else", "last.env": "V=last",
        ])
        func sources(_ environment: [String: String] = [:], in folder: String = "") throws -> ComposeSources {
            try ComposeSources(environment: environment, current: scratch.path + folder)
        }
        let usual = try sources()
        #expect(usual.paths == ["base.yaml", "sub/other.yaml"])
        #expect(try usual.projectName() == "named")
        #expect(try usual.file(project: "p").stack.services[0].command == ["echo", "dot"])
        let other = try sources(["COMPOSE_ENV_FILES": "else.env,last.env"])
        #expect(other.paths == ["base.yaml"])
        #expect(try other.projectName() == "file")
        #expect(try other.file(project: "p").stack.services[0].command == ["echo", "last"])
        #expect(try sources(["COMPOSE_PROJECT_NAME": "outside"]).projectName() == "outside")
        _ = try scratch.write("services: {a: {command: a}}", to: "compose.yaml")
        #expect(try sources(in: "/deep").paths == ["\(scratch.path)/compose.yaml"])
        #expect(try sources(in: "/deep").projectName() == "named", "the .env is beside the compose file")
    }

    @Test("The variable COMPOSE_PROJECT_NAME has the name of the project, wherever it comes from")
    func projectVariable() throws {
        let scratch = try Scratch()
        let paths = try scratch.write(
            ["c.yaml": "name: mine\nservices: {a: {command: 'x ${COMPOSE_PROJECT_NAME}'}}"], reading: "c.yaml")
        #expect(try ComposeFile(paths: paths, environment: [:]).stack.services[0].command == ["x", "mine"])
        let sources = try ComposeSources(paths: paths, environment: ["COMPOSE_PROJECT_NAME": "outside"])
        #expect(try sources.file(project: "flag").stack.services[0].command == ["x", "flag"])
        #expect(try sources.variables(project: "flag").map(\.origin) == ["project"])
    }

    @Test(
        "A compose file or env file that is not UTF-8 is refused with its name",
        arguments: [
            (".env", "FF FE 41 00", ".env:1: cannot read the file; it must be UTF-8 text"),
            (".env", "41 00 3D 00", ".env:1: cannot read the file; it must be UTF-8 text"),
            ("l.env", "41 3D E9", "c.yaml:1: cannot read the file 'l.env'; it must be UTF-8 text"),
            ("c.yaml", "FF FE 61 00", "cannot read the compose file c.yaml; it must be UTF-8 text"),
        ])
    func encodings(file: String, bytes: String, mistake: String) throws {
        let scratch = try Scratch()
        try scratch.write(["c.yaml": "services: {a: {command: x, env_file: l.env}}", ".env": "", "l.env": ""])
        let data = Data(bytes.split(separator: " ").compactMap { UInt8($0, radix: 16) })
        try data.write(to: URL(fileURLWithPath: "\(scratch.path)/\(file)"))
        let found = mistakes {
            try ComposeSources(paths: ["c.yaml"], environment: [:], current: scratch.path).file(project: "p")
        }
        #expect(found.map { $0.replacing("\(scratch.path)/", with: "") } == [mistake])
    }

    @Test("A path in the user's home folder is expanded where compose allows it, and refused elsewhere")
    func home() throws {
        let scratch = try Scratch()
        let paths = try scratch.write(
            [
                "c.yaml": "include: [~/inc.yaml]\nservices: {a: {command: a, env_file: ~/a.env}}",
                "home/inc.yaml": "services: {b: {command: b}}", "home/a.env": "V=1",
                "d.yaml": """
                services:
                  a: {command: a, working_dir: ~/x}
                  b: {command: b, working_dir: '~'}
                  c: {command: c, env_file: ~other/x.env}
                  d: {extends: {service: d, file: ~/d.yaml}}
                """,
            ], reading: "c.yaml", "d.yaml")
        let environment = ["HOME": "\(scratch.path)/home"]
        let stack = try ComposeFile(paths: [paths[0]], environment: environment).stack
        #expect(stack.services.map(\.name) == ["a", "b"])
        #expect(stack.services[0].environment == ["V": "1"])
        let found = mistakes { try ComposeFile(paths: [paths[1]], environment: environment) }
        #expect(
            found.filter { $0.contains("'~' is not expanded in ") && $0.hasSuffix("; write ${HOME}") }.count == 4,
            "\(found)")
    }

    @Test("Compose files are searched for in the same places as in compose")
    func find() throws {
        let scratch = try Scratch()
        #expect(ComposeFile.find(in: scratch.path).isEmpty)
        let standard = try scratch.write(["compose/default.yaml": ""], reading: "compose/default.yaml")
        #expect(ComposeFile.find(in: scratch.path) == standard)
        let pair = try scratch.write(
            ["docker-compose.yml": "", "compose.yml": "", "compose.override.yaml": ""],
            reading: "compose.yml", "compose.override.yaml")
        #expect(ComposeFile.find(in: scratch.path) == pair)
    }
}
