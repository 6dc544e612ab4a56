import Testing

@testable import Compose

@Suite("Several compose files")
struct ComposeMergeTests {
    @Test("are one stack: mappings merge, lists add up but for commands, later values win")
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
        #expect(try ComposeFile.projectName(in: paths) == "second")
    }

    @Test("tell each mistake with the file that it is in")
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

    @Test("take variables from .env beside the first, or from the files given; the process's own win")
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
        let variables = try ComposeFile.variables(in: [paths[0]], environment: ["OWN": "own"])
        #expect(
            variables.map { "\($0.name) \($0.origin ?? "-") \($0.standIn ?? "-")" } == [
                "FROM_FILE \(scratch.path)/.env -", "NONE - n", "OWN environment -",
            ])
        let given = try ComposeFile(
            paths: [paths[0]], environmentFiles: Array(paths.dropFirst()), environment: ["OWN": "own"])
        #expect(given.stack.services[0].command == ["x", "12", "own", "n"])
        #expect(throws: ComposeError.self) {
            try ComposeFile(paths: [paths[0]], environmentFiles: ["/nowhere/x.env"], environment: [:])
        }
    }

    @Test(
        "tells what turns out to be wrong at its start where the last file says it",
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

    @Test("are looked for as compose does")
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
