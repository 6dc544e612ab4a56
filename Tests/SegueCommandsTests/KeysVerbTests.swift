import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Keys of a bus", .timeLimit(.minutes(2)))
struct KeysVerbTests {
    @Test("Keys are made, listed, replaced and revoked")
    func life() async throws {
        try await SegueCommandLine.inScratch { segue in
            #expect(try await segue("keys", "init").lines == ["keys/broker.key", "keys/operator.key"])
            let added = try await segue("keys", "add", "a", "b", "--until", "2999-01-01T00:00:00Z")
            #expect(added.output == "keys/a.key\nkeys/b.key\n")
            let list = try await segue("keys", "list", "--utc")
            #expect(list.lines.map { $0.split(separator: " ")[0] } == ["NAME", "a", "b", "operator"])
            #expect(list.lines[1].contains("2999-01-01T00:00:00.000Z"))
            let before = try await segue("keys", "list", "--json").lines
            #expect(try await segue("keys", "rotate", "a").status == 0)
            let after = try await segue("keys", "list", "--json").lines
            #expect(before[0] != after[0])
            #expect(before[1] == after[1])
            let revoked = try await segue("keys", "revoke", "a")
            #expect(
                revoked.output
                    == "removed the key of a and keys/a.key; a broker that runs refuses the key from now on, "
                    + "NATS servers after 'segue export nats-permissions' and a reload\n")
            #expect(try await segue("keys", "list", "--json").lines == [after[1], after[2]])
            #expect(!FileManager.default.fileExists(atPath: segue.directory + "/keys/a.key"))
        }
    }

    @Test("The list shows the role of each key, and the session of a device")
    func roles() async throws {
        try await SegueCommandLine.inScratch { segue in
            _ = try await segue.shell(
                """
                segue keys init && segue keys add shop && segue keys add watch --role monitor
                segue keys add phone --role device --session amelie
                """)
            let list = try await segue("keys", "list").lines.map { $0.split(separator: " ").prefix(3) }
            #expect(
                list == [
                    ["NAME", "ROLE", "SESSION"], ["operator", "operator", "-"], ["phone", "device", "amelie"],
                    ["shop", "service", "-"], ["watch", "monitor", "-"],
                ])
            let phone = try await segue.shell(
                "segue keys list --json | jq -c 'select(.name == \"phone\") | [.role, .session]'")
            #expect(phone.output == "[\"device\",\"amelie\"]\n")
        }
    }

    @Test(
        "An invalid role, session or time is one line that says what to write",
        arguments: [
            ("--role device", "a device has a session, the only one that it sees; name it"),
            ("--session a", "only a device has a session, not the role 'service'; leave the session out"),
            ("--role king", "there is no role 'king'; known: device, monitor, operator, service"),
            (
                "--until 3x",
                "The value '3x' is invalid for '--until <time>': it has to be a time to come such as "
                    + "2027-03-01T12:00:00Z, '2027-03-01 12:00' or 2027-03-01, or a duration such as 12h"
            ),
        ])
    func options(_ arguments: String, _ error: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.shell("segue keys init && segue keys add a \(arguments)")
            #expect(result.error.contains(error), "\(result.error)")
            #expect(result.status == 64)
        }
    }

    @Test(
        "A mistake is one line with the status 78",
        arguments: [
            ("list", "there is no folder keys with keys; make one with 'segue keys init'"),
            ("add x --keys k", "there is no folder k with keys; make one with 'segue keys init'"),
            (
                "add ../x --keys used",
                "'../x' cannot have a key; use letters, digits, '.', '_' and '-', beginning with a letter or digit, but "
                    + "not 'broker'"
            ),
            ("init --keys used", "used has keys already; add one with 'segue keys add', or choose another folder"),
            ("add a --keys used", "'a' has a key; replace it with 'segue keys rotate a'"),
            ("add b c b --keys used", "duplicate name 'b'; remove one of them"),
            ("revoke b --keys used", "'b' has no key in used; did you mean 'a'?"),
            ("add operator --keys used", "'operator' has a key; replace it with 'segue keys rotate operator'"),
        ])
    func mistakes(_ arguments: String, _ error: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            _ = try await segue.shell("segue keys init --keys used && segue keys add a --keys used")
            let result = try await segue.shell("segue keys \(arguments)")
            #expect(result.error == "segue: \(error)\n")
            #expect(result.status == 78)
        }
    }

    @Test("The stack with keys on docs/deploying.md runs as the page says")
    func page() async throws {
        let page = try String(contentsOfFile: Repository.path("docs/deploying.md"), encoding: .utf8)
        let sections = page.components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("How do I protect a bus on a network?\n") })
        let blocks = section.matches(of: #/(?s)```(?:yaml|sh)\n(.*?)```/#).map { String($0.1) }
        try #require(blocks.count == 3)
        try await SegueCommandLine.inScratch { segue in
            for _ in 1...20 {
                // Below the ports that the kernel gives to outgoing connections by default.
                let port = Int.random(in: 5_000..<16_000) * 2
                try segue.write(blocks[0].replacing("7000", with: "\(port)"))
                let isFree = try await segue.shell(": > /dev/tcp/127.0.0.1/\(port)").status != 0
                if isFree { break }
            }
            var lines = blocks[1].split(separator: "\n").map(String.init)
            let revocation = lines.removeLast()
            let result = try await segue.shell("set -e\n" + lines.joined(separator: "\n"))
            #expect(result.status == 0, "\(result.error)")
            #expect(result.output.contains("error-notifier"))
            #expect(try await segue("services").output.contains("error-notifier"))
            let access = try await segue.shell("set -e\n" + blocks[2])
            #expect(access.status == 0, "\(access.error)")
            #expect(access.output.contains("document.ErrorBanner"))
            let keys = try await segue("keys", "list").lines.map { $0.split(separator: " ").prefix(3) }
            #expect(keys.contains(["phone", "device", "amelie"]) && keys.contains(["visitor", "monitor", "-"]))
            #expect(try await segue("services").output.contains("error-notifier"))
            #expect(try await segue.shell(revocation).status == 0)
            let log = try await segue.shell(
                "timeout 60 segue logs -f | grep -m 1 'no longer accepts\\|does not accept'")
            #expect(log.output.contains("error-notifier"))
            #expect(try await segue.shell("segue wait error-notifier").status == 77)
        }
    }

    @Test("A bus on a network needs keys or --insecure on both sides")
    func insecure() async throws {
        try await SegueCommandLine.inScratch { segue in
            let client = try await segue("services", "--bus", "tcp://127.0.0.1:1")
            #expect(client.status == 78)
            #expect(client.error.contains("tcp://127.0.0.1:1 needs keys: make them with 'segue keys init'"))
            let broker = try await segue.shell("broker --bus tcp://127.0.0.1:1 --journal journal.sqlite")
            #expect(broker.status == 78)
            #expect(broker.errorLines.count == 1)
            #expect(try await segue("services", "--bus", "tcp://127.0.0.1:1", "--insecure").status == 69)
        }
    }
}
