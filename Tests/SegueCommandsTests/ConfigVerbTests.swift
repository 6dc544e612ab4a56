import CommandLineTestSupport
import Foundation
import Testing

@Suite("'segue config'")
struct ConfigVerbTests {
    private let stack = """
        x-ports: [web]
        services:
          a: {command: [echo, "$NOT_SET", $$x, "${LEVEL:-low}", $SEGUE_PORT_WEB]}
          b: {command: b, profiles: [dev], depends_on: [c]}
          c: {command: c, profiles: [dev, test]}
        """

    @Test("'segue config' refuses a file without an end", .timeLimit(.minutes(1)))
    func endless() async throws {
        try await SegueCommandLine.inScratch { segue in
            let told = "it must be a text file of at most 4 MiB"
            for script in ["segue config -f /dev/zero", "yes | segue config -f -", "segue config -f <(yes)"] {
                let endless = try await segue.shell(script)
                #expect(endless.status == 66, "\(script)")
                #expect(
                    endless.error.wholeMatch(of: #/segue: cannot read the compose file \S+; (.*)\n/#)?.1 == told[...])
            }
            try segue.write("services: {a: {command: x}}")
            let flag = try await segue("config", "--env-file", "/dev/zero")
            #expect(flag.status == 66 && flag.error == "segue: cannot read the environment file /dev/zero; \(told)\n")
            try FileManager.default.createSymbolicLink(
                atPath: segue.directory + "/.env", withDestinationPath: "/dev/zero")
            let usual = try await segue("config")
            #expect(usual.status == 78 && usual.error == "segue: .env:1: cannot read the file; \(told)\n")
            try FileManager.default.removeItem(atPath: segue.directory + "/.env")
            for entry in ["env_file: [{path: /dev/zero, required: false}]", "extends: {file: /dev/zero, service: a}"] {
                try segue.write("services:\n  a:\n    command: x\n    \(entry)\n")
                let named = try await segue("config")
                #expect(named.error == "segue: compose.yaml:4: cannot read the file '/dev/zero'; \(told)\n")
            }
        }
    }

    @Test("An env file that cannot be read has one exit status, with and without the service's profile")
    func environmentFile() async throws {
        try await SegueCommandLine.inScratch { segue in
            for profiles in ["", ", profiles: [x]"] {
                try segue.write("services: {a: {command: x, env_file: missing.env\(profiles)}}")
                let result = try await segue("config", "--profile", "x")
                #expect(result.status == 78, "\(profiles)")
                #expect(
                    result.error == "segue: compose.yaml:1: cannot read the file 'missing.env'; "
                        + "write 'required: false' if it may be missing\n")
            }
        }
    }

    @Test("'segue config' warns of unset variables, and prints an equivalent file")
    func config() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(stack)
            let config = try await segue("config", "--profile", "*")
            #expect(
                config.error
                    == "segue: compose.yaml: the variable NOT_SET is not set; its value is the empty string\n")
            try segue.write(config.output, to: "again.yaml")
            let again = try await segue("config", "-f", "again.yaml", "--profile", "*")
            #expect(again.output == config.output && again.error.isEmpty)
            let json = try await segue("config", "--format", "json", "--profile", "*")
            try segue.write(json.output, to: "again.json")
            #expect(try await segue("config", "-f", "again.json", "--json", "--profile", "*").output == json.output)
            let quiet = try await segue("config", "-q")
            #expect(quiet.status == 0 && quiet.output.isEmpty)
        }
    }

    @Test("'segue config' reads several files, and one from standard input")
    func files() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(stack)
            try segue.write("services: {d: {command: d}}", to: "compose.override.yaml")
            #expect(try await segue("config", "--services").output == "a\nd\n")
            #expect(try await segue("config", "--services", "-f", "compose.yaml").output == "a\n")
            let piped = try await segue.shell(
                "segue config --services -f compose.yaml -f - <<< 'services: {e: {command: e}}'")
            #expect(piped.lines == ["a", "e"])
            let export = try await segue.shell(
                "segue export systemd -f - <<< $'name: ${NAME:-n}\nservices: {e: {command: sleep 1}}'")
            #expect(export.lines.first == "# n.target", "\(export.error)")
            let empty = try await segue("config", "-f", "-")
            #expect(empty.status == 78 && empty.error.hasPrefix("segue: -:1: the file is empty"), "\(empty.error)")
            let foreign = try await segue.shell("printf '\\xff\\xfe' > f.yaml; segue config -f f.yaml")
            #expect(foreign.status == 66 && foreign.error.hasSuffix("it must be UTF-8 text\n"))
        }
    }

    @Test("'segue config' names the project as 'segue up' does: by -p, by the file, or by its folder")
    func name() async throws {
        try await SegueCommandLine.inScratch { segue in
            func names(_ flags: String...) async throws -> [String] {
                try await segue.run(["config"] + flags).lines.filter { $0.hasPrefix("name:") }
            }
            try segue.write(stack)
            let folder = URL(fileURLWithPath: segue.directory).lastPathComponent.lowercased()
            #expect(try await names() == ["name: \(folder)"])
            try segue.write("name: own\n" + stack)
            #expect(try await names() == ["name: own"])
            #expect(try await names("-p", "other") == ["name: other"])
            #expect(try await segue("config", "-p", "Not A Name").status == 78)
        }
    }

    @Test("'segue config' shows the active profiles, or the services that are named")
    func parts() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(stack)
            #expect(try await segue("config", "--services").output == "a\n")
            #expect(try await segue("config", "--services", "--profile", "test").output == "a\nc\n")
            #expect(try await segue.shell("SEGUE_PROFILES=dev segue config --services").lines == ["a", "b", "c"])
            #expect(try await segue("config", "--services", "b").output == "b\nc\n")
            #expect(try await segue("config", "--profiles").output == "dev\ntest\n")
            let wrong = try await segue("config", "nothing")
            #expect(wrong.status == 78)
            #expect(wrong.errorLines.last == "segue: there is no service 'nothing'; the services are a, b, c")
        }
    }

    @Test("'segue config' lists the variables, even if a required one is unset")
    func variables() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(stack.replacing("command: c", with: "command: '$FROM_FILE ${TOKEN:?get one}'"))
            try segue.write("FROM_FILE=secret", to: ".env")
            #expect(
                try await segue("config", "-q").error.hasSuffix("required variable 'TOKEN' has no value: get one\n"))
            let variables = try await segue("config", "--variables")
            #expect(
                variables.lines == [
                    "NAME            SOURCE      DEFAULT  REQUIRED", "FROM_FILE       .env        -        no",
                    "LEVEL           -           low      no", "NOT_SET         -           -        no",
                    "SEGUE_PORT_WEB  supervisor  -        no", "TOKEN           -           -        yes",
                ])
            let json = try await segue("config", "--variables", "--json", "--env-file", ".env").lines
            #expect(json.first == #"{"name":"FROM_FILE","required":false,"source":".env"}"#)
            let missing = try await segue("config", "--env-file", "none.env")
            #expect(missing.status == 66 && missing.error.contains("cannot read the environment file none.env"))
        }
    }
}
