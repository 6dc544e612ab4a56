import CommandLineTestSupport
import Foundation
import Glibc
import Testing

@Suite("Search for compose file and project", .timeLimit(.minutes(1)))
struct StackPlaceTests {
    @Test("The compose file is found in the closest folder above, in COMPOSE_FILE, or after -f")
    func places() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            let folder = "\(segue.directory)/a/b"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            func name(_ arguments: String..., environment: [String: String] = [:]) async throws -> String {
                var below = segue
                below.workingDirectory = folder
                below.environment = environment
                let result = try await below.run(arguments)
                return result.status == 0 ? result.output : result.error
            }
            #expect(try await name("config", "--services") == "broker\n")
            let (found, named) = (try await name("ps"), try await name("ps", "-p", "demo"))
            #expect(found == named && found.contains("project 'demo'"), "\(found)")
            try segue.write("name: other\nservices: {web: {command: sleep 9}}", to: "other.yaml")
            try segue.write("services: {api: {command: sleep 9}}", to: "more.yaml")
            let environment = ["COMPOSE_FILE": "../../other.yaml:\(segue.directory)/more.yaml"]
            #expect(try await name("config", "--services", environment: environment) == "web\napi\n")
            #expect(try await name("-f", "../../other.yaml", "config", "--services") == "web\n")
            let missing = try await name("ps", environment: ["COMPOSE_PROJECT_NAME": "third"])
            #expect(missing.hasPrefix("segue: project 'third' is not known here"), "\(missing)")
            let given = try await name("ps", "-p", "fourth", environment: ["COMPOSE_PROJECT_NAME": "third"])
            #expect(given.hasPrefix("segue: project 'fourth' is not known here"), "\(given)")
        }
    }

    @Test("A socket folder that another user has created is not used", arguments: ["link", "folder"])
    func trap(kind: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            var segue = segue
            segue.environment = ["XDG_RUNTIME_DIR": "", "TMPDIR": segue.directory]
            let root = "\(segue.directory)/segue-\(getuid())"
            let place = kind == "link" ? "\(segue.directory)/precious" : root
            try FileManager.default.createDirectory(atPath: "\(place)/demo", withIntermediateDirectories: true)
            chmod(place, kind == "link" ? 0o700 : 0o755)
            if kind == "link" { symlink(place, root) }
            for name in ["bus-address", "file"] {
                try "tcp://127.0.0.1:1".write(toFile: "\(place)/demo/\(name)", atomically: false, encoding: .utf8)
            }
            for verb in [
                ["up", "-d"], ["up", "--dry-run"], ["down"], ["down", "--dry-run"], ["ps"], ["ls"],
                ["send", "event.A"],
                ["monitor", "--until", "end"], ["record", "r.jsonl"], ["restart"], ["wait", "broker"],
            ] {
                let result = try await segue.run(verb)
                #expect(result.status == 1 && result.errorLines.count == 1, "\(verb): \(result.error)")
                #expect(
                    result.error.contains("\(root) is not a folder that only you can enter"), "\(verb): \(result.error)"
                )
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: "\(place)/demo").sorted() == [
                    "bus-address", "file",
                ])
            unlink(root)
        }
    }

    @Test("The running projects are named if no compose file is found")
    func running() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            try await segue("up", "-d", "--wait")
            var elsewhere = segue
            elsewhere.workingDirectory = "/"
            let up = try await elsewhere("up")
            #expect(
                up.error
                    == "segue: there is no compose file in / or in a folder above it; "
                    + "name a compose file with -f FILE; these projects are running: demo\n")
            let ps = try await elsewhere("ps", "-p", "nosuch")
            #expect(ps.error.hasSuffix("name another project with -p; these projects are running: demo\n"))
        }
    }

    @Test("A second file with the name of a running project is refused, and the same file may change")
    func otherFile() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            try await segue("up", "-d", "--wait")
            try segue.write(Stacks.broker, to: "copy.yaml")
            for arguments in [["up", "-d"], ["up", "-d", "--dry-run"], ["up"]] {
                let refused = try await segue.run(arguments + ["-f", "copy.yaml"])
                #expect(refused.status == 1)
                #expect(
                    refused.error
                        == "segue: project 'demo' is running from \(segue.directory)/compose.yaml, not from "
                        + "\(segue.directory)/copy.yaml; choose another name with -p NAME, or stop the project with "
                        + "'segue down -p demo'\n")
            }
            try segue.write(Stacks.broker + "\n# changed\n")
            try segue.write("services: {broker: {labels: {a: b}}}", to: "compose.override.yaml")
            #expect(try await segue("up", "-d", "--wait").status == 0)
            #expect(try await segue("up", "-d", "--wait", "-f", "./compose.yaml").status == 0)
            try await segue("down")
            #expect(try await segue("up", "-d", "--wait", "-f", "copy.yaml").status == 0, "nothing runs any more")
        }
    }

    @Test("'segue down -v' removes the state, and asks on a terminal")
    func removal() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Stacks.broker)
            try await segue("up", "-d", "--wait")
            let state = "\(segue.directory)/state/segue/demo"
            #expect(FileManager.default.fileExists(atPath: state))
            let rehearsed = try await segue("down", "-v", "--dry-run")
            #expect(rehearsed.errorLines.last == "segue: \(state) would be removed")
            #expect(try await segue("down", "-v", "broker").status == 64)
            let declined = try await segue.shell("echo n | script -qec 'segue down -v' /dev/null")
            #expect(declined.status == 1 && declined.output.contains("all data of project 'demo'? [y/N]"))
            #expect(declined.output.contains("nothing was stopped or removed"))
            #expect(try await segue("ps").status == 0)
            let removed = try await segue("down", "-v")
            #expect(removed.error == "segue: project 'demo' is down\nsegue: \(state) is removed\n")
            #expect(!FileManager.default.fileExists(atPath: state))
            #expect(try await segue("down", "-v").status == 0, "there is nothing left")
        }
    }
}
