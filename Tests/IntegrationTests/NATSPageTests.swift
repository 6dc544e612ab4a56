import CommandLineTestSupport
import Compose
import Foundation
import TestSupport
import Testing

@Suite("Commands about NATS of docs/deploying.md")
struct NATSPageTests {
    @Test("The commands of the page run", .timeLimit(.minutes(3)))
    func commands() async throws {
        let page = try Page("docs/deploying.md")
        let servers = page.section("How do I run the bus on NATS?").blocks(of: "sh")
        let rights = page.section("How do I restrict rights on NATS?").blocks(of: "sh")
        try #require(servers.count == 3 && rights.count == 1)
        try await SegueCommandLine.inScratch { segue in
            let stack = Repository.path("compose/nats.yaml")
            let contract = Repository.path("config/contract.json")
            let commands = (servers[0] + rights[0]).replacing("compose/nats.yaml", with: stack)
                .replacing("config/contract.json", with: contract)
            let result = try await segue.shell("set -euo pipefail\n\(commands)\ngrep -c nkey: permissions.conf")
            #expect(result.status == 0, "\(result.output)\(result.error)")
            #expect(result.output.contains("music-service 0.1.0") && result.lines.last == "8", "\(result.output)")
        }
    }

    @Test(
        "Three servers, a steward and a stack on them can be started with the page's commands", .timeLimit(.minutes(3)))
    func ownServers() async throws {
        let page = try Page("docs/deploying.md").section("How do I run the bus on NATS?")
        let blocks = page.blocks(of: "sh").dropFirst()
        let file = try #require(page.blocks(of: "yaml").first)
        try #require(blocks.count == 2)
        let reserved = try (1...9).map { try LoopbackPort(for: "nats \($0)") }
        try await SegueCommandLine.inScratch { segue in
            var commands = "cat > servers.yaml <<END\n\(file)END\n\(blocks.joined())"
            for (index, prefix) in [422, 622, 822].enumerated() {
                let ports = reserved[(index * 3)..<(index * 3 + 3)].map { "\($0.number)" }
                commands.replace(
                    "\(prefix)$n", with: "$(echo \(ports.joined(separator: " ")) | cut -d ' ' -f $n)")
                for (number, port) in zip(1..., ports) { commands.replace("\(prefix)\(number)", with: port) }
            }
            commands = commands.replacing("compose/default.yaml", with: Repository.path("compose/default.yaml"))
                .replacing("nats-server -c", with: "\(Repository.path(".build/nats-server")) -c")
                .replacing("$n.conf &", with: "$n.conf > server$n.log 2>&1 &")
                .replacing("broker --replicas 3 &", with: "broker --replicas 3 > steward.log 2>&1 &")
            let result = try await segue.shell(
                """
                set -euo pipefail
                trap 'kill $(jobs -p); wait' EXIT
                \(commands)
                """)
            #expect(result.status == 0, "\(result.output)\(result.error)")
            #expect(result.lines.contains { $0.contains(" event.LaunchFinished segue/") }, "\(result.output)")
            #expect(result.output.contains("music-service 0.1.0"), "\(result.output)")
        }
    }

    @Test(
        "The launcher gives each service of a stack on NATS its key file, and verbs use the operator's",
        .timeLimit(.minutes(2)))
    func keys() async throws {
        try await SegueCommandLine.inScratch { segue in
            let made = try await segue.shell(
                """
                set -e
                segue keys init && segue keys add error-notifier && segue keys add visitor --role monitor
                segue export nats-permissions \(Repository.path("config/contract.json")) > permissions.conf
                """)
            try #require(made.status == 0, "\(made.error)")
            try segue.write("jetstream {}\nmax_payload: 9MB\ninclude permissions.conf\n", to: "nats.conf")
            try segue.write(
                """
                name: keyed
                x-ports: [nats]
                x-bus: nats://127.0.0.1:${SEGUE_PORT_NATS}
                x-keys: keys
                services:
                  nats:
                    command: >
                      \(Repository.path(".build/nats-server")) -c nats.conf -a 127.0.0.1 -p ${SEGUE_PORT_NATS}
                      -sd ${SEGUE_STATE_DIR}/nats
                    labels: { segue.contract: none }
                  broker: { command: broker, depends_on: [nats] }
                  error-notifier:
                    command: error-notifier
                    depends_on: { broker: { condition: service_healthy } }
                """)
            // The servers do not know the key that was made after the export.
            let result = try await segue.shell(
                """
                set -e; trap 'segue down' EXIT; segue up -d --wait; segue services
                segue keys add late; SEGUE_BUS_CURVE=keys/late.key segue services || echo "status $?"
                visitor() { SEGUE_BUS_CURVE=keys/visitor.key segue "$@"; }
                visitor send event.LaunchFinished --no-check || echo "forbidden: status $?"
                visitor monitor --json --since beginning --type event.LaunchFinished > seen & monitor=$!
                segue send event.LaunchFinished --no-check; until test -s seen; do sleep 0.1; done
                segue keys revoke visitor error-notifier
                segue export nats-permissions \(Repository.path("config/contract.json")) > permissions.conf
                segue kill -s HUP nats
                wait $monitor || echo "revoked: status $?"
                segue wait error-notifier || echo "service: status $?"
                """)
            #expect(result.status == 0 && result.output.contains("error-notifier 0.1.0"), "\(result.error)")
            #expect(result.output.contains("\nstatus 77\n"), "\(result.output)\(result.error)")
            let refusals = result.error.matches(of: /do not accept the key of this process/)
            #expect(refusals.count == 2, "\(result.error)")
            for line in ["forbidden: status 77", "revoked: status 77", "service: status 77"] {
                #expect(result.lines.contains(line), "\(result.output)\(result.error)")
            }
        }
    }

    @Test("The exported users have the given keys and namespace, and a mistake is one line")
    func users() async throws {
        try await SegueCommandLine.inRepository { segue in
            let key = "U" + String(repeating: "A", count: 55)
            let named = try await segue(
                "export", "nats-permissions", "--nkey", "music-service=\(key)", "--namespace", "X")
            #expect(named.output.contains("nkey: \(key)") && named.output.contains("\"X.m.-.-.event.PlaylistShuffled"))
            let stranger = try await segue("export", "nats-permissions", "--nkey", "music-servic=\(key)")
            #expect(
                stranger.status == 64 && stranger.error.contains("did you mean 'music-service'"), "\(stranger.error)")
            let seed = try await segue("export", "nats-permissions", "--nkey", "music-service=S\(key)")
            #expect(seed.status == 64)
            let contract = try String(contentsOfFile: Repository.path("config/contract.json"), encoding: .utf8)
            let hostile = contract.replacing(#""name" : "music-service""#, with: #""name" : "x\n}, { nkey: UEVIL }""#)
            try #require(hostile != contract)
            let refused = try await segue.run(["export", "nats-permissions", "-"], input: hostile)
            #expect(refused.status == 65 && refused.output.isEmpty && refused.errorLines.count == 1, "\(refused.error)")
            let namespace = try await segue("export", "nats-permissions", "--namespace", "a b")
            #expect(namespace.status == 64 && namespace.error.contains("--namespace"), "\(namespace.error)")
        }
    }
}
