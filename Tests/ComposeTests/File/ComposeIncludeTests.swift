import Testing

@testable import Compose

@Suite("Compose files that include others")
struct ComposeIncludeTests {
    @Test("Included services have the paths and variables of their own folders")
    func include() throws {
        let scratch = try Scratch()
        let stack = try scratch.readCompose(
            [
                "c.yaml": """
                include:
                  - bus/broker.yaml
                  - path: [music/a.yaml, music/b.yaml]
                    project_directory: data
                    env_file: music/vars.env
                services:
                  web: {command: "web ${SEGUE_PORT_MUSIC}", depends_on: [broker, music]}
                """,
                "bus/broker.yaml": """
                include: [../far/deep.yaml]
                services:
                  broker: {command: "broker $LEVEL $OWN", working_dir: run}
                """,
                "bus/.env": "LEVEL=low\nOWN=file",
                "far/deep.yaml": "services: {deep: {command: deep}}",
                "music/a.yaml": "x-ports: [music]\nservices:\n  music: {command: 'music $WHO', working_dir: run}",
                "music/b.yaml": "services:\n  music: {environment: {B: \"1\"}}",
                "music/vars.env": "WHO=me",
            ], environment: ["OWN": "own"]
        ).stack
        #expect(stack.services.map(\.name) == ["web", "broker", "deep", "music"])
        #expect(stack.services[0].command == ["web", "${SEGUE_PORT_MUSIC}"])
        #expect(stack.services[1].command == ["broker", "low", "own"])
        #expect(stack.services[1].workingDirectory == "\(scratch.path)/bus/run")
        #expect(stack.services[0].workingDirectory == nil, "the stack's folder")
        #expect(stack.services[2].workingDirectory == "\(scratch.path)/far")
        #expect(stack.services[3].command == ["music", "me"])
        #expect(stack.services[3].environment == ["B": "1"])
        #expect(stack.services[3].workingDirectory == "\(scratch.path)/data/run")
        #expect(stack.ports == ["music"])
    }

    @Test("An included file sets the stack's bus, unless the including file has its own")
    func bus() throws {
        let scratch = try Scratch()
        var files = [
            "c.yaml": "include: [a.yaml]\nservices: {web: {command: web}}",
            "a.yaml": "x-bus: nats://a\nservices: {a: {command: a}}",
        ]
        #expect(try scratch.readCompose(files).stack.bus == "nats://a")
        files["c.yaml"]? += "\nx-bus: nats://c"
        #expect(try scratch.readCompose(files).stack.bus == "nats://c")
    }

    @Test("One file can be included in two ways, but two services with one name are refused")
    func twice() throws {
        let scratch = try Scratch()
        let files = [
            "c.yaml": "include: [one/a.yaml, two/b.yaml]\nservices: {web: {command: web}}",
            "one/a.yaml": "include: ../common/bus.yaml\nservices: {a: {command: a}}",
            "two/b.yaml": "include: ../common/bus.yaml\nservices: {b: {command: b}}",
            "common/bus.yaml": "x-clients: [device]\nservices: {bus: {command: bus, environment: [A=1]}}",
        ]
        let stack = try scratch.readCompose(files).stack
        #expect(stack.services.map(\.name).sorted() == ["a", "b", "bus", "web"])
        #expect(stack.clients == [["device"]])
        let other = "include: {path: ../common/bus.yaml, env_file: e}\nservices: {b: {command: b}}"
        let differing = files.merging([
            "two/b.yaml": other.replacing("include: {", with: "include:\n  - {"), "two/e": "A=2",
            "common/bus.yaml": "services: {bus: {command: 'bus $A'}}",
        ]) { $1 }
        let found = mistakes { try scratch.readCompose(differing) }
        #expect(found.count == 1 && found[0].contains("service 'bus' is also defined in "), "\(found)")
    }

    @Test("Mistakes in a file and in included ones are reported, and so is a cycle")
    func mistakesOfAll() throws {
        let scratch = try Scratch()
        let found = mistakes {
            try scratch.readCompose(
                [
                    "c.yaml": """
                    include:
                      - sub/a.yaml
                      - ${SECRET}/none.yaml
                      - {paht: x}
                    services:
                      web: {command: web, scale: many}
                    """,
                    "sub/a.yaml": "include: ../c.yaml\nservices:\n  web: {command: x}\n  b: {image: y, command: $}",
                ], environment: ["SECRET": "hunter2"])
        }.map { $0.replacing("\(scratch.path)/", with: "") }
        #expect(
            found.contains {
                $0.hasPrefix("c.yaml:3: cannot read the file '${SECRET}/none.yaml'; relative paths start in")
            })
        #expect(
            found.contains("c.yaml:4: unknown key 'paht' in 'include'; did you mean 'path'?"))
        #expect(found.contains("c.yaml:4: an entry of 'include' has no 'path'; name the file to include"))
        #expect(found.contains { $0.hasPrefix("c.yaml:6: 'scale' of service 'web' cannot be 'many'") })
        #expect(
            found.contains(
                "sub/a.yaml:1: a file includes itself: c.yaml → sub/a.yaml → c.yaml; remove one of these includes"))
        #expect(found.contains { $0.hasPrefix("sub/a.yaml:3: service 'web' is also defined in c.yaml:6; ") })
        #expect(found.contains { $0.hasPrefix("sub/a.yaml:4: 'services.b.command': a lone '$'") })
        #expect(found.contains { $0.hasPrefix("sub/a.yaml:4: 'image' in service 'b' makes no sense") })
        #expect(found.count == 8, "\(found)")
        #expect(!found.joined().contains("hunter2"))
    }
}

@Suite("Services that extend others")
struct ComposeExtendsTests {
    @Test("A service inherits all keys that it does not set, across files and their folders")
    func extends() throws {
        let scratch = try Scratch()
        let services = try scratch.readCompose(
            [
                "c.yaml": """
                services:
                  base: {command: base, environment: {A: "1", B: "1"}, restart: always}
                  web: {extends: base, command: web, environment: [B=2]}
                  other: {extends: {file: common/base.yaml, service: far}, environment: {C: "3"}}
                """,
                "common/base.yaml": """
                services:
                  near: {command: near, working_dir: run, env_file: near.env}
                  far: {extends: {service: near}, stop_signal: INT}
                """,
                "common/near.env": "A=near",
            ]).stack.services
        #expect(services.map(\.name) == ["base", "web", "other"])
        #expect(services[1].command == ["web"] && services[1].restart == .always())
        #expect(services[1].environment == ["A": "1", "B": "2"])
        #expect(services[2].command == ["near"] && services[2].stopSignal == StopSignal("INT"))
        #expect(services[2].workingDirectory == "\(scratch.path)/common/run")
        #expect(services[2].environment == ["A": "near", "C": "3"])
    }

    @Test("An unknown base service is refused, and so is a cycle")
    func refused() {
        let found = mistakes {
            try readCompose(
                """
                services:
                  a: {extends: b, command: x}
                  b: {extends: {service: a}, command: x}
                  c: {extends: brokr, command: x}
                  d: {extends: {file: none.yaml, service: x}, command: x}
                  broker: {extends: {}, command: x}
                """)
        }
        #expect(found.contains("c.yaml:2: services extend each other: b → a → b; remove one 'extends'"))
        #expect(found.contains("c.yaml:3: services extend each other: a → b → a; remove one 'extends'"))
        #expect(found.contains("c.yaml:4: there is no service 'brokr' to extend; did you mean 'broker'?"))
        #expect(found.contains("c.yaml:5: cannot read the file 'none.yaml'; relative paths start in /stack"))
        #expect(found.contains("c.yaml:6: 'extends' has no 'service'; name the service to extend"))
        #expect(found.count == 5, "\(found)")
    }
}
