import CommandLineTestSupport
import EventBus
import Foundation
import TestSupport
import Testing

@Suite(
    "Verbs while the journal's disk is full", .timeLimit(.minutes(3)),
    .enabled(if: MountNamespace.isAllowed, "a small disk needs a mount namespace (unshare --mount), not allowed here"))
struct FullDiskVerbTests {
    private struct Noted: EventMessage { var text: String }

    /// A broker whose journal is on a disk of one megabyte.
    private static let composeFile = """
        name: demo
        services:
          broker:
            command:
              - \(MountNamespace.command.joined(separator: "\n      - "))
              - sh
              - -c
              - >-
                mkdir -p "$$SEGUE_STATE_DIR/disk" && mount -t tmpfs -o size=1m none "$$SEGUE_STATE_DIR/disk"
                && exec broker --journal "$$SEGUE_STATE_DIR/disk/journal.sqlite"
            healthcheck: { test: [NOTIFY] }
        """

    /// The verbs that read. Most of them begin with the end of the journal.
    private static let reading = [
        ["monitor", "--since", "beginning", "--until", "end"], ["monitor", "--last", "--until", "end"],
        ["monitor", "--since", "retained", "--until", "end"], ["monitor", "--since", "1", "--until", "1"],
        ["monitor", "--since", "1h", "--until", "end"], ["monitor", "--until", "end", "--json"],
        ["trace", "--last"], ["record", "recorded.jsonl", "--since", "beginning", "--until", "end"],
        ["top", "--once", "--json"], ["services"], ["dead", "list"], ["consumer", "list"],
    ]

    @Test("Verbs that only read continue, and those that publish report that the journal cannot be written")
    func reading() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.composeFile)
            let up = try await segue("up", "-d", "--wait")
            try #require(up.status == 0, "\(up.error)")
            try await segue.withConnection { try await fill($0) }
            for arguments in Self.reading {
                let result = try await segue.run(arguments)
                let logs = result.status == 0 ? "" : try await segue("logs").output
                #expect(result.status == 0, "segue \(arguments.joined(separator: " ")): \(result.error)\n\(logs)")
            }
            let sent = try await segue("send", "event.Noted", #"{"text":"more"}"#)
            #expect(sent.status == 74, "\(sent.error)")
        }
    }

    /// Publishes until the journal has no room for even an empty batch.
    private func fill(_ bus: EventBus) async throws {
        for size in [20_000, 1000, 1] {
            try await waitUntilRefused { try await bus.publish(Noted(text: String(repeating: "x", count: size))) }
        }
        try await waitUntilRefused { try await bus.publish(Batch([])) }
    }

    private func waitUntilRefused(_ publish: () async throws -> some Any) async throws {
        for _ in 1...10_000 {
            do { _ = try await publish() } catch let error as BusError where error.code == .journal { return }
        }
        Issue.record("the disk did not fill")
    }
}
